// The page's side of the render worker: started when it is first needed or when the page is idle, so
// that it does not delay the first paint.

import type { BlockPatch, DocumentKey, RenderMessage, RenderRequest } from "./port.ts";

type PatchListener = (patch: BlockPatch) => void;

export class RenderProxy {
  #worker: Worker | null = null;
  #syncPort: MessagePort | null = null;
  readonly #listeners = new Map<DocumentKey, Set<PatchListener>>();

  /** `syncPort`: where the sync worker sends chunks. A new one takes the place of the one before. */
  attach(syncPort: MessagePort): void {
    if (this.#worker === null) this.#syncPort = syncPort;
    else this.#post({ type: "attach", syncPort }, [syncPort]);
  }

  start(): Worker {
    if (this.#worker !== null) return this.#worker;
    const worker = new Worker(new URL("./entry.ts", import.meta.url), {
      type: "module",
      name: "troupe-render",
    });
    this.#worker = worker;
    worker.onmessage = ({ data }: MessageEvent<RenderMessage>) => {
      for (const patch of data.patches) {
        for (const listener of this.#listeners.get(patch.key) ?? []) listener(patch);
      }
    };
    if (this.#syncPort !== null) {
      this.#post({ type: "attach", syncPort: this.#syncPort }, [this.#syncPort]);
    }
    return worker;
  }

  show(key: DocumentKey, listener: PatchListener): () => void {
    const listeners = this.#listeners.get(key) ?? new Set();
    this.#listeners.set(key, listeners.add(listener));
    this.#post({ type: "show", key });
    return () => {
      listeners.delete(listener);
      if (listeners.size > 0 || this.#listeners.get(key) !== listeners) return;
      this.#listeners.delete(key);
      this.#post({ type: "hide", key });
    };
  }

  settle(key: DocumentKey, text: string): void {
    this.#post({ type: "settle", key, text });
  }

  #post(request: RenderRequest, transfer: Transferable[] = []): void {
    this.start().postMessage(request, transfer);
  }
}
