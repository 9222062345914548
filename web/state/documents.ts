// One part of a turn on screen: live text comes to the renderer by itself; once the turn's row holds
// the text, the row has the last word (F1).

import { createEffect } from "solid-js";
import type { SessionId } from "../../shared/ids.ts";
import type { TextBody } from "../../shared/protocol/rows.ts";
import type { BlockPatch, WorkersClient } from "../../workers/client.ts";

export interface PartOnScreen {
  readonly sessionId: SessionId;
  readonly turnId: number;
  readonly part: "answer" | "reasoning";
  /** The row's text once it is final; null while it streams. Tracked. */
  readonly body: () => TextBody | null;
  /** Tracked: a text that could not be fetched is asked for again when this turns true. */
  readonly isOnline: () => boolean;
  /** Why only its beginning is shown, as the text's question failed; null when it is whole. */
  readonly onMissing: (error: unknown) => void;
}

type Documents = Pick<WorkersClient, "show" | "settle" | "text">;

/** Call under an owner, which ends it. */
export function showPart(
  client: Documents,
  part: PartOnScreen,
  listener: (patch: BlockPatch) => void,
): () => void {
  const key = `${part.sessionId}/${part.turnId}/${part.part}`;
  const hide = client.show(key, listener);
  let isShown = true;
  let settledHash: string | null = null;
  createEffect(() => {
    const body = part.body();
    part.isOnline();
    if (body === null) return;
    const identity = body.blob ?? body.head;
    if (settledHash === identity) return;
    const settle = (text: string) => {
      if (isShown) client.settle(key, text);
    };
    client.text(body).then(
      (text) => {
        settledHash = identity;
        part.onMissing(null);
        settle(text);
      },
      (error: unknown) => {
        part.onMissing(error);
        settle(body.head);
      },
    );
  });
  return () => {
    isShown = false;
    hide();
  };
}
