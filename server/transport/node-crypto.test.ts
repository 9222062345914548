import fc from "fast-check";
import { expect, it } from "vitest";
import { nobleCrypto } from "../../shared/noise/noble-crypto.ts";
import { testNoiseCrypto } from "../../shared/noise/noise.contract.ts";
import { nodeCrypto } from "./node-crypto.ts";

testNoiseCrypto(nodeCrypto, 1);

const key = fc.uint8Array({ minLength: 32, maxLength: 32 });
const bytes = fc.uint8Array({ maxLength: 2_000 });

it("gives the same bytes as the browser's primitives", () => {
  fc.assert(
    fc.property(key, key, fc.maxSafeNat(), bytes, bytes, (a, b, nonce, ad, text) => {
      const [ours, theirs] = [nodeCrypto, nobleCrypto];
      expect(ours.publicKey(a)).toEqual(theirs.publicKey(a));
      expect(ours.dh(a, ours.publicKey(b))).toEqual(theirs.dh(b, theirs.publicKey(a)));
      const sealed = ours.encrypt(a, nonce, ad, text);
      expect(sealed).toEqual(theirs.encrypt(a, nonce, ad, text));
      expect(theirs.decrypt(a, nonce, ad, sealed)).toEqual(text);
      expect(ours.hash(text)).toEqual(theirs.hash(text));
      expect(ours.hmac(a, text)).toEqual(theirs.hmac(a, text));
    }),
    { numRuns: 50 },
  );
});
