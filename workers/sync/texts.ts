// Whole texts: from the row, from disk, else from the daemon in pieces, checked against their hash.
// What rows refer to is fetched in the background, so that a synced session reads whole offline.

import type { BlobHash } from "../../shared/ids.ts";
import { Failure } from "../../shared/protocol/errors.ts";
import { methods } from "../../shared/protocol/methods.ts";
import { blobsOfRow, type Change, type TextBody } from "../../shared/protocol/rows.ts";
import type { Clock } from "../clock.ts";
import { type MakeRoom, writeWithRoom } from "./ordered-writes.ts";
import { isOutOfRoom, type ReplicaRows, type WantedBlob } from "./replica.ts";

/** Rows that come together are stored by then, and their blobs fetched in one go. */
const SETTLE_MS = 500;
const WANTED_PER_READ = 32;

export interface TextsOptions {
  readonly replica: Pick<
    ReplicaRows,
    "blob" | "wantedBlobs" | "keepBlob" | "giveUpBlob" | "dropUnusedBlobs"
  >;
  readonly clock: Clock;
  /** Rejects with a `Failure`. */
  readonly readBlob: (params: { hash: BlobHash; offset: number }) => Promise<unknown>;
  readonly isReady: () => boolean;
  readonly makeRoom: MakeRoom;
  /** Room for what nobody has asked for. */
  readonly hasSpareRoom: () => Promise<boolean>;
  /** SHA-256. */
  readonly hash: (bytes: Uint8Array) => Uint8Array;
  readonly report: (error: unknown) => void;
}

export class Texts {
  readonly #options: TextsOptions;
  readonly #fetching = new Map<BlobHash, Promise<Uint8Array>>();
  #isPrefetching = false;
  #isSwept = false;
  #cancelPrefetch = () => {};

  constructor(options: TextsOptions) {
    this.#options = options;
  }

  /** Rejects with a `Failure` if it is neither here nor to be had. */
  async text({ head, blob }: TextBody): Promise<string> {
    if (blob === null) return head;
    const { replica, makeRoom, report } = this.#options;
    const kept = await replica.blob(blob);
    if (kept !== null) return new TextDecoder().decode(kept);
    const fetched = await this.#fetch(blob);
    // At once: what someone has looked at must be there offline, whatever happens next.
    const keep = () => replica.keepBlob(blob, fetched);
    writeWithRoom(keep, { makeRoom, otherwise: null }).catch(report);
    return new TextDecoder().decode(fetched);
  }

  rows(changes: readonly Change[]): void {
    const isWanted = changes.some(({ row }) => row !== null && blobsOfRow(row).length > 0);
    if (isWanted) this.prefetchSoon();
  }

  /** Fetches all that is wanted, one after another, while there is a connection. */
  prefetchSoon(): void {
    this.#cancelPrefetch();
    this.#cancelPrefetch = this.#options.clock.after(SETTLE_MS, () => {
      if (!this.#isPrefetching) void this.#prefetch();
    });
  }

  async #prefetch(): Promise<void> {
    const { replica, isReady, hasSpareRoom, report } = this.#options;
    this.#isPrefetching = true;
    try {
      while (isReady() && (await hasSpareRoom())) {
        const wanted = await replica.wantedBlobs(WANTED_PER_READ);
        if (wanted.length === 0) break;
        for (const one of wanted) await this.#keep(one);
      }
      if (!this.#isSwept) {
        // Rows that changed may have left some behind; once per worker is often enough.
        this.#isSwept = true;
        await replica.dropUnusedBlobs();
      }
    } catch (error) {
      const isExpected = isOutOfRoom(error) || (error instanceof Failure && error.wire.retryable);
      if (!isExpected) report(error);
    } finally {
      this.#isPrefetching = false;
    }
  }

  async #keep(wanted: WantedBlob): Promise<void> {
    const { replica } = this.#options;
    try {
      const kept = await replica.blob(wanted.hash);
      await replica.keepBlob(wanted.hash, kept ?? (await this.#fetch(wanted.hash)));
    } catch (error) {
      if (!(error instanceof Failure) || error.wire.retryable) throw error;
      await replica.giveUpBlob(wanted);
    }
  }

  /** Two who want the same share one fetch. */
  #fetch(hash: BlobHash): Promise<Uint8Array> {
    const under = this.#fetching.get(hash);
    if (under !== undefined) return under;
    const fetching = this.#fetchWhole(hash).finally(() => this.#fetching.delete(hash));
    this.#fetching.set(hash, fetching);
    return fetching;
  }

  async #fetchWhole(hash: BlobHash): Promise<Uint8Array> {
    let whole: Uint8Array | null = null;
    let offset = 0;
    do {
      const piece = methods["blob.read"].result.parse(
        await this.#options.readBlob({ hash, offset }),
      );
      whole ??= new Uint8Array(piece.size);
      const isPast = piece.size !== whole.length || offset + piece.bytes.length > whole.length;
      if (isPast || (piece.bytes.length === 0 && offset < whole.length)) throw damaged(hash);
      whole.set(piece.bytes, offset);
      offset += piece.bytes.length;
    } while (offset < whole.length);
    if (toHex(this.#options.hash(whole)) !== hash) throw damaged(hash);
    return whole;
  }
}

const damaged = (hash: string): Failure =>
  new Failure("internal", `The daemon's copy of text ${hash.slice(0, 8)}… is damaged.`);

const toHex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
