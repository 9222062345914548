// The links to one session and who reads by each, newest first; and what one device reads.

import type { RowByKind } from "../../shared/protocol/rows.ts";

export interface ShareEntry {
  readonly id: string;
  readonly createdAt: number;
  readonly expiresAt: number | null;
  /** Names of the devices that were let in by it. */
  readonly viewers: readonly string[];
}

type RowsById<K extends keyof RowByKind> = Readonly<Record<string, RowByKind[K]>>;

export function listShares(
  shares: RowsById<"share">,
  grants: RowsById<"grant">,
  devices: RowsById<"device">,
): ShareEntry[] {
  const viewersOf = (shareId: string) =>
    Object.entries(grants)
      .filter(([, grant]) => grant.shareId === shareId)
      .sort(([, a], [, b]) => a.createdAt - b.createdAt)
      .map(([deviceId]) => devices[deviceId]?.name ?? "a device");
  return Object.entries(shares)
    .map(([id, { createdAt, expiresAt }]) => ({ id, createdAt, expiresAt, viewers: viewersOf(id) }))
    .sort((a, b) => b.createdAt - a.createdAt);
}

/** What a device may read, by the titles of the sessions. */
export function titlesGranted(
  deviceId: string,
  grants: Readonly<Record<string, RowsById<"grant">>>,
  sessions: RowsById<"session">,
): string[] {
  return Object.entries(grants).flatMap(([sessionId, held]) =>
    held[deviceId] === undefined ? [] : (sessions[sessionId]?.title ?? []),
  );
}
