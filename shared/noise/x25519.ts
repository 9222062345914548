// X25519 from the package's Montgomery ladder alone. Its ready-made export brings the Edwards curve and
// its tables along, for speed that one handshake per connection does not need.

import { montgomery } from "@noble/curves/abstract/montgomery.js";

/** 2^255 - 19 (RFC 7748 section 4.1). */
const P = 2n ** 255n - 19n;

/** By Fermat: x^(P-2), the inverse of x. The exponent is public, so its bits may show in the time taken. */
function invert(x: bigint): bigint {
  let result = 1n;
  let base = x;
  for (let power = P - 2n; power > 0n; power >>= 1n) {
    if (power & 1n) result = (result * base) % P;
    base = (base * base) % P;
  }
  return result;
}

export const x25519 = montgomery({
  P,
  type: "x25519",
  /** Clamping, RFC 7748 section 5. */
  adjustScalarBytes(bytes: Uint8Array) {
    bytes.set([(bytes[0] ?? 0) & 248, ...bytes.subarray(1, 31), ((bytes[31] ?? 0) & 127) | 64]);
    return bytes;
  },
  powPminus2: invert,
});
