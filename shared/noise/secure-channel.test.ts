import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NOISE_MESSAGE_MAX_BYTES } from "../limits.ts";
import { CipherState } from "./cipher-state.ts";
import { nobleCrypto } from "./noble-crypto.ts";
import { NoiseError } from "./noise-error.ts";
import { FRAME_BODY_MAX_BYTES, SecureChannel } from "./secure-channel.ts";

const NO_AD = new Uint8Array(0);
const key = (fill: number) => new Uint8Array(32).fill(fill);
const cipher = (fill: number) => new CipherState(nobleCrypto, key(fill));

function makeChannels(messageMaxBytes?: number) {
  return {
    ours: new SecureChannel(cipher(1), cipher(2), messageMaxBytes),
    theirs: new SecureChannel(cipher(2), cipher(1), messageMaxBytes),
    /** Seals any plaintext, as a peer that keeps no rules would. */
    rogue: cipher(2),
  };
}

const code = (name: string) => expect.objectContaining({ code: name });

describe("secure channel", () => {
  it("carries messages of any size, frames within the limit of Noise", () => {
    const { ours, theirs } = makeChannels();
    const sizes = [0, 1, FRAME_BODY_MAX_BYTES, FRAME_BODY_MAX_BYTES + 1, 3 * FRAME_BODY_MAX_BYTES];
    for (const size of sizes) {
      const message = new Uint8Array(size).fill(size % 251);
      const frames = ours.seal(message);
      expect(frames).toHaveLength(Math.max(1, Math.ceil(size / FRAME_BODY_MAX_BYTES)));
      const opened = frames.map((frame) => {
        expect(frame.length).toBeLessThanOrEqual(NOISE_MESSAGE_MAX_BYTES);
        return theirs.open(frame);
      });
      const last = opened.pop();
      expect(opened.every((part) => part === null)).toBe(true);
      expect(Buffer.from(last ?? []).equals(message)).toBe(true);
    }
  });

  it("[N1] puts together whatever a peer cuts, and keeps messages apart", () => {
    const messages = fc.array(fc.array(fc.uint8Array({ minLength: 1, maxLength: 50 })));
    fc.assert(
      fc.property(messages, (cut) => {
        const { ours, rogue } = makeChannels();
        for (const parts of cut) {
          for (const part of parts) {
            expect(ours.open(rogue.encrypt(NO_AD, Uint8Array.of(1, ...part)))).toBeNull();
          }
          const whole = Uint8Array.from(parts.flatMap((part) => [...part]));
          expect(ours.open(rogue.encrypt(NO_AD, Uint8Array.of(0)))).toEqual(whole);
        }
      }),
    );
  });

  it("[N2] refuses a message over the limit as soon as it is over", () => {
    const { ours, rogue } = makeChannels(100);
    const part = new Uint8Array(51).fill(9);
    part[0] = 1;
    expect(ours.open(rogue.encrypt(NO_AD, part))).toBeNull();
    expect(ours.open(rogue.encrypt(NO_AD, part))).toBeNull();
    expect(() => ours.open(rogue.encrypt(NO_AD, Uint8Array.of(1, 9)))).toThrow(code("too_large"));
    const whole = makeChannels(100);
    const frame = whole.rogue.encrypt(NO_AD, new Uint8Array(102));
    expect(() => whole.ours.open(frame)).toThrow(code("too_large"));
    expect(() => makeChannels(100).ours.seal(new Uint8Array(101))).toThrow(code("too_large"));
  });

  it("[N1] takes a frame of 65,535 bytes and refuses one of 65,536 unread", () => {
    const { ours, rogue } = makeChannels();
    const body = new Uint8Array(FRAME_BODY_MAX_BYTES + 1);
    expect(ours.open(rogue.encrypt(NO_AD, body))).toHaveLength(FRAME_BODY_MAX_BYTES);
    expect(() => ours.open(new Uint8Array(NOISE_MESSAGE_MAX_BYTES + 1))).toThrow(code("too_large"));
  });

  it.each([
    ["nothing at all", []],
    ["an unknown continuation byte", [2, 1]],
    ["a promise of more and nothing else", [1]],
  ])("refuses a frame that holds %s", (_what, plaintext) => {
    const { ours, rogue } = makeChannels();
    const frame = rogue.encrypt(NO_AD, Uint8Array.from(plaintext));
    expect(() => ours.open(frame)).toThrow(code("bad_message"));
    expect(() => ours.open(frame)).toThrow(code("dead"));
  });

  it("refuses a replay, a frame out of order, a reflected one and a cut one, and is dead after", () => {
    const cases: ((frames: { sent: Uint8Array[]; own: Uint8Array }) => Uint8Array[])[] = [
      ({ sent }) => [sent[0], sent[0]].flatMap((frame) => frame ?? []),
      ({ sent }) => sent.slice(1),
      ({ own }) => [own],
      ({ sent }) => sent.map((frame) => frame.subarray(1)),
      () => [new Uint8Array(0)],
    ];
    for (const choose of cases) {
      const { ours, theirs } = makeChannels();
      const own = ours.seal(Uint8Array.of(1))[0] ?? NO_AD;
      const sent = [1, 2, 3].flatMap((n) => theirs.seal(Uint8Array.of(n)));
      expect(() => {
        for (const frame of choose({ sent, own })) ours.open(frame);
      }).toThrow(code("decrypt_failed"));
      expect(() => ours.seal(Uint8Array.of(1))).toThrow(NoiseError);
      expect(() => ours.open(sent[2] ?? NO_AD)).toThrow(code("dead"));
    }
  });
});
