// What lets this device in: the secret of the link it was given, and the daemon key it trusts.

import type { WireError } from "../../shared/protocol/errors.ts";
import type { Enrolment } from "./port.ts";
import type { Keyring } from "./replica.ts";

export class Pairing {
  readonly #keyring: Keyring;
  #enrolment: Enrolment | null = null;

  constructor(keyring: Keyring) {
    this.#keyring = keyring;
  }

  give(enrolment: Enrolment | null): void {
    this.#enrolment = enrolment;
  }

  get enrolment(): Enrolment | null {
    return this.#enrolment;
  }

  /** The daemon let this device in: the secret is spent, and this is its key. */
  async admitted(daemonKey: Uint8Array): Promise<void> {
    this.#enrolment = null;
    await this.#keyring.pinDaemon(daemonKey);
  }

  /** A secret that the daemon would not have is of no more use: a device it knows gets in without. */
  refused({ code }: WireError): void {
    if (code === "enrolment_invalid" || code === "share_full") this.#enrolment = null;
  }

  /**
   * The daemon's key is not the pinned one. True: the pinned one was given up, try again. A launch link
   * does that only if it was opened after this key's fingerprint was shown: then it is the person's
   * answer to it. One that came before has to be opened again. A share link never does: whoever sent it
   * need not be whoever set up the daemon.
   */
  async answersTo(offered: string): Promise<boolean> {
    const wasShown = (await this.#keyring.offeredDaemon()) === offered;
    if (wasShown && this.#enrolment?.kind === "launch") {
      await this.#keyring.pinDaemon(null);
      return true;
    }
    this.#enrolment = null;
    await this.#keyring.noteOffered(offered);
    return false;
  }
}
