// From a finished handshake to an answer: reads the introduction, agrees on a version, keeps a place
// free, asks who may come in. Never throws: whatever goes wrong is a refusal.

import type { DeviceId } from "../../shared/ids.ts";
import { decode } from "../../shared/protocol/codec.ts";
import { type ErrorCode, Failure, type WireError } from "../../shared/protocol/errors.ts";
import {
  type Admission,
  type Introduction,
  introductionSchema,
} from "../../shared/protocol/handshake.ts";
import type { DeviceRow } from "../../shared/protocol/rows.ts";
import { PROTOCOL_VERSION } from "../../shared/protocol/version.ts";
import { type Log, traceOf } from "../log.ts";
import type { Admit } from "./connection.ts";
import { negotiateVersion } from "./negotiate.ts";

export interface AdmissionsOptions {
  readonly admit: Admit;
  readonly daemonVersion: string;
  readonly log: Log;
  readonly connectionsMax: number;
}

export type Role = DeviceRow["role"];

/** Devices that were turned away while someone's admission was being decided. */
type TurnedAway = Map<DeviceId, WireError>;

export class Admissions {
  readonly #options: AdmissionsOptions;
  readonly #deciding = new Set<TurnedAway>();
  #placesTaken = 0;
  /** Those of them that devices hold which are no owners. */
  #guestPlacesTaken = 0;
  #isClosed = false;
  #whenIdle = () => {};

  constructor(options: AdmissionsOptions) {
    this.#options = options;
  }

  /** Whoever is admitted holds a place until `leave`. */
  async decide(clientKey: Uint8Array, introduction: Uint8Array): Promise<Admission> {
    const turnedAway: TurnedAway = new Map();
    this.#deciding.add(turnedAway);
    this.#placesTaken += 1;
    const admission = await this.#ask(clientKey, introduction, turnedAway);
    this.#deciding.delete(turnedAway);
    if (this.#deciding.size === 0) this.#whenIdle();
    if (admission.outcome === "refused") this.#placesTaken -= 1;
    return admission;
  }

  /** A connection that was admitted is gone. */
  leave(role: Role): void {
    this.#placesTaken -= 1;
    if (role !== "owner") this.#guestPlacesTaken -= 1;
  }

  /** Closes the gap in which a device is revoked between being let in and being connected. */
  turnAway(deviceId: DeviceId, error: WireError): void {
    for (const turnedAway of this.#deciding) turnedAway.set(deviceId, error);
  }

  /** Nobody is let in from now on. Resolves once nothing is being decided: deciding reads the store. */
  close(): Promise<void> {
    this.#isClosed = true;
    if (this.#deciding.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#whenIdle = resolve;
    });
  }

  async #ask(key: Uint8Array, bytes: Uint8Array, turnedAway: TurnedAway): Promise<Admission> {
    try {
      this.#refuseIfFull();
      const introduction = readIntroduction(bytes);
      const { admit, daemonVersion } = this.#options;
      const version = negotiateVersion([PROTOCOL_VERSION], introduction.versions, daemonVersion);
      const admission = await admit(key, introduction);
      if (admission.outcome === "refused") return admission;
      if (this.#isClosed) throw shuttingDown();
      const error = turnedAway.get(admission.deviceId);
      if (error) return { outcome: "refused", error };
      if (admission.role !== "owner") this.#takeGuestPlace();
      return { ...admission, version };
    } catch (error) {
      if (error instanceof Failure) return { outcome: "refused", error: error.wire };
      this.#options.log.error({ trace: traceOf(error) }, "An admission met a bug");
      return refusal("internal", "The daemon failed to decide who this is; its log says more.");
    }
  }

  #refuseIfFull(): void {
    if (this.#isClosed) throw shuttingDown();
    const max = this.#options.connectionsMax;
    if (this.#placesTaken > max) throw full(max);
  }

  /** A link that many hold must not shut out those to whom the daemon belongs. */
  #takeGuestPlace(): void {
    const max = Math.floor(this.#options.connectionsMax / 2);
    if (this.#guestPlacesTaken >= max) throw full(max);
    this.#guestPlacesTaken += 1;
  }
}

const full = (max: number): Failure =>
  new Failure(
    "too_many_connections",
    `The daemon already serves ${max} connections; close some tabs or devices and try again.`,
    { retryable: true },
  );

function shuttingDown(): Failure {
  return new Failure("shutting_down", "The daemon is stopping.", { retryable: true });
}

function refusal(code: ErrorCode, message: string): Admission {
  return { outcome: "refused", error: { code, message, retryable: true } };
}

function readIntroduction(bytes: Uint8Array): Introduction {
  try {
    return introductionSchema.parse(decode(bytes));
  } catch (error) {
    throw new Failure("bad_message", "The client's introduction is not one.", { cause: error });
  }
}
