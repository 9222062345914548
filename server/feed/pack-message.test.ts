import { inflateRawSync } from "node:zlib";
import { expect, test } from "vitest";
import { PACK_MIN_BYTES } from "../../shared/limits.ts";
import { decode, encode } from "../../shared/protocol/codec.ts";
import type { DaemonMessage } from "../../shared/protocol/messages.ts";
import { deflate, packMessage } from "./pack-message.ts";

const result = (value: string): DaemonMessage => ({ type: "result", id: 1, value });

test("[K1] packs a message so that it unpacks to its size and to itself", async () => {
  const message = result("over and over ".repeat(PACK_MIN_BYTES));
  const packed = await packMessage(message, deflate);
  if (packed.type !== "packed") throw new Error("It was not packed");
  expect(packed.bytes.length).toBeLessThan(packed.size / 10);
  const plain = inflateRawSync(packed.bytes);
  expect(plain).toHaveLength(packed.size);
  expect(decode(plain)).toEqual(message);
});

test("[K1] leaves a message alone that is short, or that packing would make no shorter", async () => {
  const short = result("a".repeat(PACK_MIN_BYTES - 100));
  expect(await packMessage(short, deflate)).toBe(short);
  const long = result("a".repeat(PACK_MIN_BYTES));
  const useless = async () => new Uint8Array(encode(long));
  expect(await packMessage(long, useless)).toBe(long);
});
