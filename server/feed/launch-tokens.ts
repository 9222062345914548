// The secrets in launch links: good once, for LAUNCH_TOKEN_LIFETIME_MS. Only hashes are kept, and
// only in memory: a daemon that starts again knows none of the old ones.

import { createHash, timingSafeEqual } from "node:crypto";
import { toBase64Url } from "../../shared/ids.ts";
import { LAUNCH_TOKEN_LIFETIME_MS } from "../../shared/limits.ts";
import type { Clock } from "../clock.ts";

const SECRET_BYTES = 16;
/** Making one more forgets the oldest. */
export const LAUNCH_TOKENS_MAX = 16;

export interface LaunchToken {
  readonly secret: string;
  readonly expiresAt: number;
}

interface Outstanding {
  readonly hash: Uint8Array;
  readonly expiresAt: number;
}

export class LaunchTokens {
  readonly #clock: Clock;
  readonly #randomBytes: (length: number) => Uint8Array;
  #outstanding: Outstanding[] = [];

  constructor(clock: Clock, randomBytes: (length: number) => Uint8Array) {
    this.#clock = clock;
    this.#randomBytes = randomBytes;
  }

  make(): LaunchToken {
    const secret = toBase64Url(this.#randomBytes(SECRET_BYTES));
    const expiresAt = this.#clock.now() + LAUNCH_TOKEN_LIFETIME_MS;
    this.#outstanding.push({ hash: hashOf(secret), expiresAt });
    this.#outstanding = this.#outstanding.slice(-LAUNCH_TOKENS_MAX);
    return { secret, expiresAt };
  }

  /** True, once, for a secret that is outstanding. */
  spend(secret: string): boolean {
    const now = this.#clock.now();
    const hash = hashOf(secret);
    const unexpired = this.#outstanding.filter(({ expiresAt }) => expiresAt > now);
    this.#outstanding = unexpired.filter((token) => !timingSafeEqual(token.hash, hash));
    return this.#outstanding.length < unexpired.length;
  }
}

function hashOf(secret: string): Uint8Array {
  return createHash("sha256").update(secret).digest();
}
