// MessagePack to values, in one pass that trusts nothing: lengths are checked against what is there
// before anything is made, nesting and the number of values are bounded, map keys are strings,
// extension types are refused.

import { CodecError } from "./codec-error.ts";

export const NESTING_MAX = 64;
/** A whole page has some ten thousand. Of one-byte values 64 MiB would hold up everybody else for seconds. */
export const VALUES_MAX = 1_000_000;
/** Up to here putting characters together costs less than a call of the platform's decoder. */
const SHORT_MAX_BYTES = 24;

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

export class MsgpackReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;
  #values = 0;

  constructor(bytes: Uint8Array) {
    // A plain view even of a Buffer, whose slices would be Buffers.
    this.#bytes = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** The one value that the bytes hold. */
  readWhole(): unknown {
    const value = this.#read(0);
    if (this.#at < this.#bytes.length) {
      throw new CodecError("There are bytes after the end of the message.");
    }
    return value;
  }

  #read(depth: number): unknown {
    const type = this.#byte();
    if (type < 0x80) return type;
    if (type < 0x90) return this.#map(type & 0x0f, depth);
    if (type < 0xa0) return this.#array(type & 0x0f, depth);
    if (type < 0xc0) return this.#string(type & 0x1f);
    if (type >= 0xe0) return type - 0x100;
    switch (type) {
      case 0xc0:
        return null;
      case 0xc2:
        return false;
      case 0xc3:
        return true;
      case 0xc4:
      case 0xc5:
      case 0xc6:
        return this.#binary(this.#uint(1 << (type - 0xc4)));
      case 0xca:
        return this.#view.getFloat32(this.#advance(4));
      case 0xcb:
        return this.#view.getFloat64(this.#advance(8));
      case 0xcc:
      case 0xcd:
      case 0xce:
      case 0xcf:
        return this.#uint(1 << (type - 0xcc));
      case 0xd0:
        return this.#view.getInt8(this.#advance(1));
      case 0xd1:
        return this.#view.getInt16(this.#advance(2));
      case 0xd2:
        return this.#view.getInt32(this.#advance(4));
      case 0xd3:
        return this.#view.getInt32(this.#advance(4)) * 2 ** 32 + this.#uint(4);
      case 0xd9:
      case 0xda:
      case 0xdb:
        return this.#string(this.#uint(1 << (type - 0xd9)));
      case 0xdc:
      case 0xdd:
        return this.#array(this.#uint(2 << (type - 0xdc)), depth);
      case 0xde:
      case 0xdf:
        return this.#map(this.#uint(2 << (type - 0xde)), depth);
      default:
        throw new CodecError("The message uses a MessagePack extension type.");
    }
  }

  #array(length: number, depth: number): unknown[] {
    this.#enter(length, depth);
    const items: unknown[] = [];
    for (let i = 0; i < length; i += 1) items.push(this.#read(depth + 1));
    return items;
  }

  #map(length: number, depth: number): Record<string, unknown> {
    this.#enter(2 * length, depth);
    const map: Record<string, unknown> = {};
    for (let i = 0; i < length; i += 1) {
      const key = this.#key();
      const value = this.#read(depth + 1);
      // Assigned, it would set the prototype.
      if (key !== "__proto__") map[key] = value;
    }
    return map;
  }

  /** Each value takes at least a byte: a count beyond what is left is a lie, found before the work. */
  #enter(values: number, depth: number): void {
    if (values > this.#bytes.length - this.#at) throw new CodecError("The message is cut short.");
    this.#values += values;
    if (this.#values > VALUES_MAX) {
      throw new CodecError(`The message holds more than ${VALUES_MAX} values.`);
    }
    if (depth >= NESTING_MAX && values > 0) {
      throw new CodecError(`The message is nested more than ${NESTING_MAX} deep.`);
    }
  }

  #key(): string {
    const type = this.#byte();
    if (type >= 0xa0 && type < 0xc0) return this.#string(type & 0x1f);
    if (type >= 0xd9 && type <= 0xdb) return this.#string(this.#uint(1 << (type - 0xd9)));
    throw new CodecError("A map in the message has a key that is no string.");
  }

  #string(length: number): string {
    const from = this.#advance(length);
    if (length > SHORT_MAX_BYTES) return this.#decode(from);
    let text = "";
    for (let at = from; at < this.#at; at += 1) {
      const byte = this.#bytes[at] ?? 0;
      if (byte >= 0x80) return this.#decode(from);
      text += String.fromCharCode(byte);
    }
    return text;
  }

  /** What is no UTF-8 becomes U+FFFD. */
  #decode(from: number): string {
    return decoder.decode(this.#bytes.subarray(from, this.#at));
  }

  /** Bytes of their own, which do not keep the whole message alive. */
  #binary(length: number): Uint8Array {
    const from = this.#advance(length);
    return this.#bytes.slice(from, from + length);
  }

  #uint(length: number): number {
    const from = this.#advance(length);
    let value = 0;
    for (let at = from; at < this.#at; at += 1) value = value * 256 + (this.#bytes[at] ?? 0);
    return value;
  }

  #byte(): number {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) throw new CodecError("The message is cut short.");
    this.#at += 1;
    return byte;
  }

  /** Where the next `length` bytes begin, which are there. */
  #advance(length: number): number {
    const from = this.#at;
    if (length > this.#bytes.length - from) throw new CodecError("The message is cut short.");
    this.#at = from + length;
    return from;
  }
}
