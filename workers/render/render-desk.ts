// All documents of one page: takes text from the sync worker and the page, and sends patches of what
// is shown, at most one set per frame.

import { assertNever } from "../../shared/assert-never.ts";
import type { Clock } from "../clock.ts";
import type { BlockPatch, DocumentKey, RenderInput, RenderMessage, RenderRequest } from "./port.ts";
import { RenderedDocument } from "./rendered-document.ts";

const FRAME_MS = 16;

export class RenderDesk {
  readonly #clock: Clock;
  readonly #post: (message: RenderMessage) => void;
  readonly #documents = new Map<DocumentKey, RenderedDocument>();
  readonly #changed = new Set<DocumentKey>();
  #isScheduled = false;
  #lastSentAt = 0;

  constructor(clock: Clock, post: (message: RenderMessage) => void) {
    this.#clock = clock;
    this.#post = post;
  }

  input(input: RenderInput): void {
    switch (input.type) {
      case "chunk":
        if (this.#document(input.key).chunk(input.offset, input.text)) this.#touch(input.key);
        return;
      case "end": {
        const document = this.#documents.get(input.key);
        document?.end();
        this.#dropIfUnneeded(input.key);
        return;
      }
      default:
        assertNever(input);
    }
  }

  request(request: Exclude<RenderRequest, { type: "attach" }>): void {
    const { key } = request;
    switch (request.type) {
      case "show":
        this.#document(key).show();
        this.#touch(key);
        return;
      case "hide": {
        const document = this.#documents.get(key);
        if (document !== undefined) document.isShown = false;
        this.#dropIfUnneeded(key);
        return;
      }
      case "settle":
        this.#document(key).settle(request.text);
        this.#touch(key);
        return;
      default:
        assertNever(request);
    }
  }

  #document(key: DocumentKey): RenderedDocument {
    const known = this.#documents.get(key);
    if (known !== undefined) return known;
    const made = new RenderedDocument(key);
    this.#documents.set(key, made);
    return made;
  }

  #dropIfUnneeded(key: DocumentKey): void {
    const document = this.#documents.get(key);
    if (document?.isOver && !document.isShown) this.#documents.delete(key);
  }

  #touch(key: DocumentKey): void {
    this.#changed.add(key);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    const wait = this.#lastSentAt + FRAME_MS - this.#clock.now();
    this.#clock.after(Math.max(0, wait), () => this.#send());
  }

  #send(): void {
    this.#isScheduled = false;
    this.#lastSentAt = this.#clock.now();
    const patches: BlockPatch[] = [];
    for (const key of this.#changed) {
      const document = this.#documents.get(key);
      // What is hidden is rendered when it is shown.
      const patch = document?.isShown ? document.takePatch() : null;
      if (patch !== null) patches.push(patch);
    }
    this.#changed.clear();
    if (patches.length > 0) this.#post({ type: "patches", patches });
  }
}
