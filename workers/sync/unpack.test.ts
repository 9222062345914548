import { deflateRawSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { unpackAtOnce } from "../testing/unpack-at-once.ts";
import { makeUnpack, type Unpack } from "./unpack.ts";

const whole = Uint8Array.from({ length: 300_000 }, (_, index) => (index * index) >> 7);
const pack = (bytes: Uint8Array) => new Uint8Array(deflateRawSync(bytes));

function unpackOrThrow(): Unpack {
  const unpack = makeUnpack();
  if (unpack === null) throw new Error("There is no DecompressionStream here.");
  return unpack;
}

describe.each([
  ["the browser's stream", unpackOrThrow()],
  ["the one for virtual time", unpackAtOnce],
])("%s", (_, unpack) => {
  test("gives back what was packed", async () => {
    const unpacked = await unpack(pack(whole), whole.length);
    expect(Buffer.compare(unpacked, whole)).toBe(0);
    expect(await unpack(pack(whole.subarray(0, 1)), 1)).toEqual(whole.subarray(0, 1));
  });

  test("[K1] refuses what unpacks to more than it says, however little it says", async () => {
    for (const size of [1, 65_536, whole.length - 1]) {
      await expect(unpack(pack(whole), size)).rejects.toThrow("unpack");
    }
  });

  test("[K1] refuses what unpacks to less than it says", async () => {
    await expect(unpack(pack(whole), whole.length + 1)).rejects.toMatchObject({
      code: "too_short",
    });
  });

  test("[K1] refuses what is cut, garbled or no DEFLATE at all", async () => {
    const packed = pack(whole);
    await expect(unpack(packed.slice(0, -9), whole.length)).rejects.toMatchObject({
      name: "UnpackError",
    });
    await expect(unpack(new Uint8Array(0), 1)).rejects.toMatchObject({ name: "UnpackError" });
    await expect(unpack(whole.slice(0, 4_000), whole.length)).rejects.toMatchObject({
      name: "UnpackError",
    });
  });
});

test("[K1] takes no memory for a size that DEFLATE cannot reach", async () => {
  const length = 64 * 1024 * 1024;
  await expect(unpackOrThrow()(pack(whole.subarray(0, 100)), length)).rejects.toMatchObject({
    code: "too_short",
  });
});

test("a bomb is given up long before it is unpacked whole", async () => {
  const bomb = pack(new Uint8Array(64 * 1024 * 1024));
  await expect(unpackOrThrow()(bomb, 1_000)).rejects.toMatchObject({ code: "too_long" });
});
