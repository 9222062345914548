// What every implementation of `NoiseCrypto` must do: the published vectors, and nothing for an
// attacker. Run by the test of each implementation.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CipherState } from "./cipher-state.ts";
import vectorFile from "./fixtures/vectors.json";
import { HandshakeState } from "./handshake-state.ts";
import type { KeyPair, NoiseCrypto } from "./noise-crypto.ts";
import { NoiseError } from "./noise-error.ts";

type Vector = (typeof vectorFile.vectors)[number];

const hex = (text: string) => Uint8Array.from(text.match(/../g) ?? [], (b) => Number(`0x${b}`));
const NOTHING = new Uint8Array(0);

/** `everyNth`: how many of the bytes are flipped and cut in turn, 1 being all of them. */
export function testNoiseCrypto(crypto: NoiseCrypto, everyNth: number): void {
  const known = new Map<string, KeyPair>();
  const keys = (privateHex: string): KeyPair => {
    const privateKey = hex(privateHex);
    const pair = known.get(privateHex) ?? { privateKey, publicKey: crypto.publicKey(privateKey) };
    known.set(privateHex, pair);
    return pair;
  };

  const pair = (vector: Vector, responderPrologue = vector.prologue) => {
    const shared = { crypto, pattern: vector.pattern === "XX" ? "XX" : "IK" } as const;
    const initiator = new HandshakeState({
      ...shared,
      isInitiator: true,
      prologue: hex(vector.prologue),
      staticKeys: keys(vector.initStatic),
      ephemeralKeys: keys(vector.initEphemeral),
      remoteStatic: vector.remoteStatic === null ? null : hex(vector.remoteStatic),
    });
    const responder = new HandshakeState({
      ...shared,
      isInitiator: false,
      prologue: hex(responderPrologue),
      staticKeys: keys(vector.respStatic),
      ephemeralKeys: keys(vector.respEphemeral),
      remoteStatic: null,
    });
    return { initiator, responder };
  };
  const sides = (vector: Vector, from: string, both = pair(vector)) =>
    from === "init"
      ? { writer: both.initiator, reader: both.responder }
      : { writer: both.responder, reader: both.initiator };
  const handshakes = (vector: Vector) => vector.messages.filter((m) => m.phase === "handshake");
  /** The reader of message `index`, every earlier message delivered. */
  const readerOf = (vector: Vector, index: number) => {
    const both = pair(vector);
    for (const { from, payload } of handshakes(vector).slice(0, index)) {
      const { writer, reader } = sides(vector, from, both);
      reader.read(writer.write(hex(payload)));
    }
    return sides(vector, handshakes(vector)[index]?.from ?? "", both).reader;
  };

  describe.each(vectorFile.vectors)("$id $pattern", (vector) => {
    it("gives the published bytes, hash and transport messages", () => {
      const both = pair(vector);
      for (const { from, payload, ciphertext } of handshakes(vector)) {
        const { writer, reader } = sides(vector, from, both);
        const message = writer.write(hex(payload));
        expect(message).toEqual(hex(ciphertext));
        expect(reader.read(message)).toEqual(hex(payload));
      }
      const init = both.initiator.finish();
      const resp = both.responder.finish();
      expect(init.handshakeHash).toEqual(resp.handshakeHash);
      if (vector.handshakeHash) expect(init.handshakeHash).toEqual(hex(vector.handshakeHash));
      expect(resp.remoteStatic).toEqual(keys(vector.initStatic).publicKey);
      expect(init.remoteStatic).toEqual(keys(vector.respStatic).publicKey);
      for (const { from, payload, ciphertext } of vector.messages.slice(
        handshakes(vector).length,
      )) {
        const [sender, receiver] = from === "init" ? [init, resp] : [resp, init];
        const message = sender.send.encrypt(NOTHING, hex(payload));
        expect(message).toEqual(hex(ciphertext));
        expect(receiver.receive.decrypt(NOTHING, message)).toEqual(hex(payload));
      }
    });
  });

  const ofEachPattern = vectorFile.vectors.filter(({ id }) => id === "cacophony");

  describe.each(ofEachPattern)("$pattern", (vector) => {
    it("refuses a flip of any byte of the handshake, at once or at the next message", () => {
      handshakes(vector).forEach(({ ciphertext }, index) => {
        const isBare = vector.pattern === "XX" && index === 0;
        for (let at = 0; at < hex(ciphertext).length; at += everyNth) {
          const flipped = hex(ciphertext);
          flipped[at] = (flipped[at] ?? 0) ^ 1;
          const reader = readerOf(vector, index);
          if (!isBare) {
            expect(() => reader.read(flipped)).toThrow(NoiseError);
            expect(() => reader.finish()).toThrow("failed");
          } else {
            reader.read(flipped);
            const initiator = readerOf(vector, 1);
            expect(() => initiator.read(reader.write(NOTHING))).toThrow(NoiseError);
          }
        }
      });
    });

    it("refuses every proper prefix and every extension, and is unusable afterwards", () => {
      handshakes(vector).forEach(({ ciphertext }, index) => {
        const whole = hex(ciphertext);
        const isBare = vector.pattern === "XX" && index === 0;
        for (let length = 0; length < (isBare ? 32 : whole.length); length += everyNth) {
          const reader = readerOf(vector, index);
          expect(() => reader.read(whole.subarray(0, length))).toThrow(NoiseError);
          expect(() => reader.read(whole)).toThrow("failed");
        }
        if (isBare) return;
        expect(() => readerOf(vector, index).read(Uint8Array.of(...whole, 0))).toThrow(NoiseError);
      });
    });

    it("refuses another prologue", () => {
      const both = pair(vector, "00");
      const first = both.initiator.write(NOTHING);
      if (vector.pattern === "IK") {
        expect(() => both.responder.read(first)).toThrow(NoiseError);
      } else {
        both.responder.read(first);
        const second = both.responder.write(NOTHING);
        expect(() => both.initiator.read(second)).toThrow(NoiseError);
      }
    });

    it("refuses a call out of turn and goes on as if it had not been", () => {
      const both = pair(vector);
      expect(() => both.responder.write(NOTHING)).toThrow("turn");
      expect(() => both.initiator.read(NOTHING)).toThrow("turn");
      expect(() => both.initiator.finish()).toThrow("not finished");
      for (const { from } of handshakes(vector)) {
        const { writer, reader } = sides(vector, from, both);
        expect(() => reader.write(NOTHING)).toThrow("turn");
        reader.read(writer.write(NOTHING));
      }
      expect(() => both.initiator.write(NOTHING)).toThrow("turn");
      expect(both.initiator.finish().handshakeHash).toEqual(both.responder.finish().handshakeHash);
    });

    it.each(vectorFile.lowOrderPoints)("refuses the low-order ephemeral %s", (point) => {
      const reader = readerOf(vector, 0);
      const first = hex(handshakes(vector)[0]?.ciphertext ?? "");
      first.set(hex(point));
      expect(() => {
        reader.read(first);
        reader.write(NOTHING);
      }).toThrow(expect.objectContaining({ code: "bad_key" }));
    });
  });

  it("refuses an IK client that pinned another key, and answers nothing", () => {
    const vector = vectorFile.vectors.find(({ pattern }) => pattern === "IK");
    if (!vector) throw new Error("No IK vector");
    const both = pair({ ...vector, remoteStatic: vector.initEphemeral });
    expect(() => both.responder.read(both.initiator.write(NOTHING))).toThrow(NoiseError);
    expect(() => both.responder.write(NOTHING)).toThrow("failed");
  });

  it("refuses a low-order static key and one of the wrong length", () => {
    for (const point of [...vectorFile.lowOrderPoints, "", "01", "02".repeat(33)]) {
      expect(() => crypto.dh(hex("11".repeat(32)), hex(point))).toThrow(
        expect.objectContaining({ code: "bad_key" }),
      );
    }
  });

  it("opens what it sealed, and nothing that was changed", () => {
    const byteString = fc.uint8Array({ maxLength: 200 });
    const key = fc.uint8Array({ minLength: 32, maxLength: 32 });
    fc.assert(
      fc.property(
        key,
        fc.maxSafeNat(),
        byteString,
        byteString,
        fc.nat(),
        (k, n, ad, text, flip) => {
          const sealed = crypto.encrypt(k, n, ad, text);
          expect(crypto.decrypt(k, n, ad, sealed)).toEqual(text);
          const changed = sealed.slice();
          const at = flip % changed.length;
          changed[at] = (changed[at] ?? 0) ^ 0x80;
          expect(() => crypto.decrypt(k, n, ad, changed)).toThrow(NoiseError);
          expect(() => crypto.decrypt(k, n, ad, sealed.subarray(0, at))).toThrow(NoiseError);
        },
      ),
    );
  });

  it("leaves the nonce after a failed decrypt where it was", () => {
    const key = new Uint8Array(32).fill(7);
    const sender = new CipherState(crypto, key);
    const receiver = new CipherState(crypto, key);
    const [first, second] = [
      sender.encrypt(NOTHING, hex("01")),
      sender.encrypt(NOTHING, hex("02")),
    ];
    expect(() => receiver.decrypt(NOTHING, second)).toThrow(NoiseError);
    expect(receiver.decrypt(NOTHING, first)).toEqual(hex("01"));
    expect(() => receiver.decrypt(NOTHING, first)).toThrow(NoiseError);
    expect(receiver.decrypt(NOTHING, second)).toEqual(hex("02"));
  });

  it("counts past 2^32 without wrapping and ends before numbers lose count", () => {
    const key = new Uint8Array(32).fill(7);
    const at = (nonce: number) => new CipherState(crypto, key, nonce).encrypt(NOTHING, hex("01"));
    expect(at(2 ** 32)).not.toEqual(at(0));
    const counting = new CipherState(crypto, key, 2 ** 32 - 1);
    counting.encrypt(NOTHING, hex("01"));
    expect(counting.encrypt(NOTHING, hex("01"))).toEqual(at(2 ** 32));
    const last = new CipherState(crypto, key, Number.MAX_SAFE_INTEGER - 1);
    last.encrypt(NOTHING, hex("01"));
    expect(() => last.encrypt(NOTHING, hex("01"))).toThrow(
      expect.objectContaining({ code: "exhausted" }),
    );
  });
}
