import fc from "fast-check";
import { Packr, Unpackr } from "msgpackr";
import { describe, expect, it } from "vitest";
import { CodecError, decode, Encoded, encode } from "./codec.ts";
import { NESTING_MAX, VALUES_MAX } from "./msgpack-reader.ts";

const bytes = (hex: string) =>
  Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number(`0x${byte}`));

const leaf = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.maxSafeInteger(),
  fc.double({ noNaN: true }).filter((n) => !Object.is(n, -0)),
  fc.boolean(),
  fc.constant(null),
  fc.uint8Array({ maxLength: 300 }),
);
const key = fc.string().filter((name) => name !== "__proto__");
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    leaf,
    fc.array(tie("value"), { maxLength: 20 }),
    fc.dictionary(key, tie("value"), { maxKeys: 20, noNullPrototype: true }),
  ),
}));

/** The other implementation gives Buffers in Node. */
function bytesAsPlain(given: unknown): unknown {
  if (given instanceof Uint8Array) return new Uint8Array(given);
  if (Array.isArray(given)) return given.map(bytesAsPlain);
  if (typeof given !== "object" || given === null) return given;
  return Object.fromEntries(
    Object.entries(given).map(([name, held]) => [name, bytesAsPlain(held)]),
  );
}

describe("codec", () => {
  it("gives back what it was given", () => {
    fc.assert(
      fc.property(value, (message) => {
        expect(decode(encode(message))).toEqual(message);
      }),
    );
  });

  it("[N4] writes what another implementation reads, and reads what it writes", () => {
    const unpackr = new Unpackr({ useRecords: false, mapsAsObjects: true, int64AsType: "number" });
    const packr = new Packr({ useRecords: false });
    fc.assert(
      fc.property(value, (message) => {
        expect(bytesAsPlain(unpackr.unpack(encode(message)))).toEqual(message);
        expect(decode(packr.pack(message))).toEqual(message);
      }),
    );
  });

  it("keeps integers up to 2^53 as numbers", () => {
    for (const n of [2 ** 31, 2 ** 32, 2 ** 40, 2 ** 53 - 1, -(2 ** 31) - 1, -(2 ** 53) + 1]) {
      expect(decode(encode(n))).toBe(n);
    }
    expect(decode(bytes("cf001fffffffffffff"))).toBe(2 ** 53 - 1);
    expect(decode(bytes("d3ffe0000000000001"))).toBe(-(2 ** 53) + 1);
  });

  it("pins the bytes of a message", () => {
    const message = { type: "beat", n: 1, b: Uint8Array.of(7), none: undefined, nil: null };
    expect(encode(message)).toEqual(bytes("84a474797065a462656174a16e01a162c40107a36e696cc0"));
  });

  it("decodes binary as a Uint8Array of its own, even from a Buffer", () => {
    const decoded = decode(Buffer.from(encode({ data: Uint8Array.of(1, 2, 3) })));
    const data = Object(decoded).data;
    expect(Object.getPrototypeOf(data)).toBe(Uint8Array.prototype);
    expect(data.buffer.byteLength).toBe(3);
  });

  it("encodes into bytes that share memory with nothing", () => {
    const first = encode("first");
    encode("second");
    expect(first.buffer.byteLength).toBe(first.length);
    expect(decode(first)).toBe("first");
  });

  it("writes what is encoded already as if it were encoded here", () => {
    const row = { text: "as stored", list: [1, null, { deep: new Uint8Array([1, 2]) }] };
    const page = {
      changes: [
        { id: "a", row: new Encoded(encode(row)) },
        { id: "b", row: null },
      ],
    };
    const plain = {
      changes: [
        { id: "a", row },
        { id: "b", row: null },
      ],
    };
    expect(encode(page)).toEqual(encode(plain));
  });

  it("refuses every proper prefix and every trailing byte", () => {
    fc.assert(
      fc.property(value, fc.nat(), (message, cut) => {
        const whole = encode(message);
        expect(() => decode(whole.subarray(0, cut % whole.length))).toThrow(CodecError);
        expect(() => decode(Uint8Array.of(...whole, 0xc0))).toThrow(CodecError);
      }),
    );
  });

  it("answers any bytes with a value or a CodecError", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (garbage) => {
        try {
          decode(garbage);
        } catch (error) {
          expect(error).toBeInstanceOf(CodecError);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    ["an empty message", ""],
    ["the byte that is never used", "c1"],
    ["an array of 4 billion", "ddffffffff"],
    ["a map of 4 billion", "dfffffffff"],
    ["a string of 4 GiB", "dbffffffff"],
    ["bytes of 4 GiB", "c6ffffffff00"],
    ["a map whose key is a number", "810102"],
    ["a map whose key is a map", "818000"],
    ["a timestamp", "d6ff00000000"],
    ["undefined as an extension", "d40000"],
    ["a record definition", "d4724091a16101"],
    ["an error as an extension", "c7056593c0c0c0c0"],
    ["a typed array as an extension", "c7027400ff"],
    ["a length that is cut short", "da00"],
  ])("refuses %s", (_what, hex) => {
    expect(() => decode(bytes(hex))).toThrow(CodecError);
  });

  it("[N4] refuses deep nesting without running out of stack", () => {
    const nested = (depth: number) => Uint8Array.of(...new Array(depth).fill(0x91), 0xc0);
    expect(decode(nested(NESTING_MAX))).toBeInstanceOf(Array);
    expect(() => decode(nested(NESTING_MAX + 1))).toThrow("nested");
    expect(() => decode(new Uint8Array(1_000_000).fill(0x91))).toThrow(CodecError);
    expect(() => decode(new Uint8Array(1_000_000).fill(0x81))).toThrow(CodecError);
  });

  it("[F7] [N4] refuses more values than any message has, before it makes them", () => {
    const nulls = (count: number) => {
      const whole = new Uint8Array(5 + count).fill(0xc0);
      whole[0] = 0xdd;
      new DataView(whole.buffer).setUint32(1, count);
      return whole;
    };
    expect(decode(nulls(VALUES_MAX))).toHaveLength(VALUES_MAX);
    expect(() => decode(nulls(VALUES_MAX + 1))).toThrow("values");
    const half = new Array(VALUES_MAX / 2).fill(null);
    expect(() => decode(encode([half, half]))).toThrow("values");
  });

  it("lets no key reach a prototype", () => {
    const hostile = encode(JSON.parse('{"__proto__": {"isAdmin": true}, "constructor": {"x": 1}}'));
    const decoded = Object(decode(hostile));
    expect(Object.getPrototypeOf(decoded)).toBe(Object.prototype);
    expect(decoded.isAdmin).toBeUndefined();
    expect(Object({}).isAdmin).toBeUndefined();
  });

  it("throws a CodecError for what MessagePack cannot hold", () => {
    const loop: Record<string, unknown> = {};
    loop.self = loop;
    expect(() => encode(loop)).toThrow(CodecError);
    expect(() => encode({ n: 2n ** 70n })).toThrow(CodecError);
    expect(decode(encode({ still: "works" }))).toEqual({ still: "works" });
  });
});
