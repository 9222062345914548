// The messages of the render worker: text comes from the sync worker (live) or the page (settled),
// finished patches go to the page.

/** One rendered text: `sessionId/turnId/part`, or `sessionId/request/requestId`. */
export type DocumentKey = string;

/** From the sync worker over the page's MessagePort. */
export type RenderInput =
  /** Offsets as in the protocol; a repeat is ignored. */
  | { type: "chunk"; key: DocumentKey; offset: number; text: string }
  /** No more chunks: the row says the rest. What is shown stays until it is settled or hidden. */
  | { type: "end"; key: DocumentKey };

export type RenderRequest =
  | { type: "attach"; syncPort: MessagePort }
  /** Start sending patches of this document, beginning with all of its blocks as they are now. */
  | { type: "show"; key: DocumentKey }
  | { type: "hide"; key: DocumentKey }
  /** The whole text. Only blocks that differ from what was shown are sent; afterwards chunks are ignored. */
  | { type: "settle"; key: DocumentKey; text: string };

/** Blocks `from`… are now `html`; the document has no blocks after those. HTML is escaped, not yet sanitized. */
export interface BlockPatch {
  readonly key: DocumentKey;
  readonly from: number;
  readonly html: readonly string[];
  /** True while more text is expected: the caret stands after the last block. */
  readonly open: boolean;
}

/** At most one set per frame. */
export type RenderMessage = { type: "patches"; patches: BlockPatch[] };
