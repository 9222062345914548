import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MODE_IK, MODE_XX } from "../protocol/handshake.ts";
import { startIK, startXX } from "./client-opening.ts";
import { awaitClient } from "./daemon-opening.ts";
import { nobleCrypto } from "./noble-crypto.ts";
import { makeKeyPair } from "./noise-crypto.ts";
import { NoiseError } from "./noise-error.ts";

/** Distinct keys, the same in every run. */
function makeRandomBytes() {
  let calls = 0;
  return (length: number) => {
    calls += 1;
    return nobleCrypto.hash(Uint8Array.of(calls)).subarray(0, length);
  };
}

function setUp() {
  const randomBytes = makeRandomBytes();
  const client = makeKeyPair(nobleCrypto, randomBytes);
  const daemon = makeKeyPair(nobleCrypto, randomBytes);
  const options = { crypto: nobleCrypto, randomBytes };
  return {
    client,
    daemon,
    clientOptions: { ...options, staticKeys: client },
    opening: awaitClient({ ...options, staticKeys: daemon }),
  };
}

const INTRODUCTION = Uint8Array.of(1, 2, 3);
const NOTHING = new Uint8Array(0);

describe("opening", () => {
  it("[H3] goes by XX: the client learns the key before it introduces itself", () => {
    const { client, daemon, clientOptions, opening } = setUp();
    const xx = startXX(clientOptions);
    expect(xx.frame).toHaveLength(33);
    expect(xx.frame[0]).toBe(MODE_XX);
    const answer = opening.receive(xx.frame);
    expect(answer.opened).toBeNull();
    const met = xx.receive(answer.frame ?? NOTHING);
    expect(met.daemonKey).toEqual(daemon.publicKey);
    const { frame, channel } = met.introduce(INTRODUCTION);
    const { opened, frame: none } = opening.receive(frame);
    expect(none).toBeNull();
    expect(opened?.clientKey).toEqual(client.publicKey);
    expect(opened?.introduction).toEqual(INTRODUCTION);
    const [sealed = NOTHING] = opened?.channel.seal(Uint8Array.of(9)) ?? [];
    expect(channel.open(sealed)).toEqual(Uint8Array.of(9));
  });

  it("[H3] goes by IK in one round trip", () => {
    const { client, daemon, clientOptions, opening } = setUp();
    const ik = startIK(clientOptions, daemon.publicKey, INTRODUCTION);
    expect(ik.frame[0]).toBe(MODE_IK);
    const { frame, opened } = opening.receive(ik.frame);
    expect(opened?.clientKey).toEqual(client.publicKey);
    expect(opened?.introduction).toEqual(INTRODUCTION);
    const channel = ik.receive(frame ?? NOTHING);
    const [sealed = NOTHING] = channel.seal(Uint8Array.of(9));
    expect(opened?.channel.open(sealed)).toEqual(Uint8Array.of(9));
  });

  it("does not answer IK meant for another daemon", () => {
    const { client, clientOptions, opening } = setUp();
    const { frame } = startIK(clientOptions, client.publicKey, INTRODUCTION);
    expect(() => opening.receive(frame)).toThrow(NoiseError);
  });

  it("takes no introduction twice", () => {
    const { clientOptions, opening } = setUp();
    const xx = startXX(clientOptions);
    const met = xx.receive(opening.receive(xx.frame).frame ?? NOTHING);
    const { frame } = met.introduce(INTRODUCTION);
    opening.receive(frame);
    expect(() => opening.receive(frame)).toThrow(NoiseError);
    expect(() => met.introduce(INTRODUCTION)).toThrow(NoiseError);
    expect(() => xx.receive(NOTHING)).toThrow(NoiseError);
  });

  it("answers any first frame with a step or a NoiseError", () => {
    const garbage = fc.uint8Array({ maxLength: 120 });
    const mode = fc.constantFrom(MODE_IK, MODE_XX, 0, 3, 255);
    fc.assert(
      fc.property(mode, garbage, garbage, (first, rest, second) => {
        const { opening } = setUp();
        try {
          expect(opening.receive(Uint8Array.of(first, ...rest)).opened).toBeNull();
          opening.receive(second);
          expect.unreachable();
        } catch (error) {
          expect(error).toBeInstanceOf(NoiseError);
        }
      }),
      { numRuns: 60 },
    );
  });

  it("[H3] refuses a handshake frame that is cut, longer, or carries what it must not", () => {
    const { clientOptions, opening } = setUp();
    const xx = startXX(clientOptions);
    const answer = opening.receive(xx.frame).frame ?? NOTHING;
    expect(answer).toHaveLength(96);
    for (const frame of [answer.subarray(0, -1), Uint8Array.of(...answer, 0), NOTHING]) {
      expect(() => startXX(clientOptions).receive(frame)).toThrow(NoiseError);
    }
    const fresh = setUp();
    expect(() => fresh.opening.receive(Uint8Array.of(...xx.frame, 1))).toThrow(NoiseError);
  });
});
