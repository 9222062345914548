// The one thing of the platform that shared code uses: Node, pages and workers all have it.

declare class TextEncoder {
  encode(text: string): Uint8Array<ArrayBuffer>;
}

declare class TextDecoder {
  constructor(label: "utf-8", options: { ignoreBOM: boolean });
  decode(bytes: Uint8Array): string;
}
