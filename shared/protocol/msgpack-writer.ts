// Values to MessagePack, each in its shortest form. What MessagePack cannot hold is refused.

import { CodecError } from "./codec-error.ts";
import { NESTING_MAX } from "./msgpack-reader.ts";

const FIRST_BYTES = 512;
/** Up to here writing characters one by one costs less than a call of the platform's encoder. */
const SHORT_MAX_UNITS = 24;

/** A type byte and the longest number after it. */
const HEAD_MAX_BYTES = 9;

const encoder = new TextEncoder();

/** The type bytes of one kind by the size of its length; null: there is no such form. */
interface Forms {
  /** The type byte that holds a length below `fixedBelow` itself. */
  readonly fixed: number;
  readonly fixedBelow: number;
  readonly one: number | null;
  readonly two: number;
  readonly four: number;
}

const STRING: Forms = { fixed: 0xa0, fixedBelow: 32, one: 0xd9, two: 0xda, four: 0xdb };
const BINARY: Forms = { fixed: 0, fixedBelow: 0, one: 0xc4, two: 0xc5, four: 0xc6 };
const ARRAY: Forms = { fixed: 0x90, fixedBelow: 16, one: null, two: 0xdc, four: 0xdd };
const MAP: Forms = { fixed: 0x80, fixedBelow: 16, one: null, two: 0xde, four: 0xdf };

/** A value that is MessagePack already: written as it is, and not checked. */
export class Encoded {
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }
}

export class MsgpackWriter {
  #bytes = new Uint8Array(FIRST_BYTES);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;

  /** A copy of what was written. */
  finish(): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(0, this.#length);
  }

  write(value: unknown, depth = 0): void {
    this.#reserve(HEAD_MAX_BYTES);
    switch (typeof value) {
      case "string":
        this.#string(value);
        return;
      case "number":
        this.#number(value);
        return;
      case "boolean":
        this.#put(value ? 0xc3 : 0xc2);
        return;
      case "undefined":
        this.#put(0xc0);
        return;
      case "object":
        if (value === null) this.#put(0xc0);
        else this.#object(value, depth);
        return;
      default:
        throw new CodecError(`A ${typeof value} cannot be encoded.`);
    }
  }

  #object(value: object, depth: number): void {
    if (value instanceof Uint8Array) {
      this.#head(value.length, BINARY);
      this.#append(value);
      return;
    }
    if (value instanceof Encoded) {
      this.#append(value.bytes);
      return;
    }
    // Also what ends a value that holds itself.
    if (depth > NESTING_MAX) {
      throw new CodecError(`A value is nested more than ${NESTING_MAX} deep.`);
    }
    if (Array.isArray(value)) {
      this.#head(value.length, ARRAY);
      for (const item of value) this.write(item, depth + 1);
      return;
    }
    const entries = Object.entries(value).filter(([, field]) => field !== undefined);
    this.#head(entries.length, MAP);
    for (const [name, field] of entries) {
      this.#string(name);
      this.write(field, depth + 1);
    }
  }

  #string(text: string): void {
    if (text.length <= SHORT_MAX_UNITS && this.#shortAscii(text)) return;
    const bytes = encoder.encode(text);
    this.#head(bytes.length, STRING);
    this.#append(bytes);
  }

  /** Field names and the like. False, with nothing written, if the text is not ASCII. */
  #shortAscii(text: string): boolean {
    this.#reserve(1 + text.length);
    const at = this.#length;
    for (let i = 0; i < text.length; i += 1) {
      const unit = text.charCodeAt(i);
      if (unit >= 0x80) return false;
      this.#bytes[at + 1 + i] = unit;
    }
    this.#bytes[at] = STRING.fixed | text.length;
    this.#length = at + 1 + text.length;
    return true;
  }

  #head(length: number, { fixed, fixedBelow, one, two, four }: Forms): void {
    this.#reserve(HEAD_MAX_BYTES);
    if (length < fixedBelow) {
      this.#put(fixed | length);
    } else if (one !== null && length < 0x100) {
      this.#put(one);
      this.#put(length);
    } else if (length < 0x1_0000) {
      this.#put(two);
      this.#view.setUint16(this.#advance(2), length);
    } else {
      this.#put(four);
      this.#view.setUint32(this.#advance(4), length);
    }
  }

  #number(value: number): void {
    const isWhole = Number.isInteger(value) && !Object.is(value, -0);
    if (!isWhole || value < -0x8000_0000 || value > 0xffff_ffff) {
      this.#put(0xcb);
      this.#view.setFloat64(this.#advance(8), value);
    } else if (value >= -32 && value < 128) {
      this.#put(value & 0xff);
    } else if (value >= 0) {
      this.#unsigned(value);
    } else {
      this.#signed(value);
    }
  }

  #unsigned(value: number): void {
    if (value < 0x100) {
      this.#put(0xcc);
      this.#put(value);
    } else if (value < 0x1_0000) {
      this.#put(0xcd);
      this.#view.setUint16(this.#advance(2), value);
    } else {
      this.#put(0xce);
      this.#view.setUint32(this.#advance(4), value);
    }
  }

  #signed(value: number): void {
    if (value >= -0x80) {
      this.#put(0xd0);
      this.#view.setInt8(this.#advance(1), value);
    } else if (value >= -0x8000) {
      this.#put(0xd1);
      this.#view.setInt16(this.#advance(2), value);
    } else {
      this.#put(0xd2);
      this.#view.setInt32(this.#advance(4), value);
    }
  }

  #append(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#advance(bytes.length));
  }

  #put(byte: number): void {
    this.#bytes[this.#advance(1)] = byte;
  }

  /** Where the next `length` bytes go, for which room was reserved. */
  #advance(length: number): number {
    const at = this.#length;
    this.#length += length;
    return at;
  }

  #reserve(length: number): void {
    const needed = this.#length + length;
    if (needed <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(needed, 2 * this.#bytes.length));
    grown.set(this.#bytes);
    this.#bytes = grown;
    this.#view = new DataView(grown.buffer);
  }
}
