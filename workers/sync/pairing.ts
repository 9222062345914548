// What lets this device in: the secret of the launch link it was given, and the daemon key it trusts.

import type { Introduction } from "../../shared/protocol/handshake.ts";
import type { Keyring } from "./replica.ts";

export class Pairing {
  readonly #keyring: Keyring;
  #secret: string | null = null;

  constructor(keyring: Keyring) {
    this.#keyring = keyring;
  }

  give(secret: string | null): void {
    this.#secret = secret;
  }

  get enrolment(): Introduction["enrolment"] {
    return this.#secret === null ? null : { kind: "launch", secret: this.#secret };
  }

  /** The daemon let this device in: the secret is spent, and this is its key. */
  async admitted(daemonKey: Uint8Array): Promise<void> {
    this.#secret = null;
    await this.#keyring.pinDaemon(daemonKey);
  }

  /**
   * The daemon's key is not the pinned one. True: the pinned one was given up, try again. A launch link
   * does that only if it was opened after this key's fingerprint was shown: then it is the person's
   * answer to it. One that came before has to be opened again.
   */
  async answersTo(offered: string): Promise<boolean> {
    const wasShown = (await this.#keyring.offeredDaemon()) === offered;
    if (wasShown && this.#secret !== null) {
      await this.#keyring.pinDaemon(null);
      return true;
    }
    this.#secret = null;
    await this.#keyring.noteOffered(offered);
    return false;
  }
}
