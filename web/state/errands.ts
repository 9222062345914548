// Commands on their way, for those who look at them: what each is about, and what it will end.

import type { OutboxEntry } from "../../workers/client.ts";
import { sessionOf, textParam, underWay } from "./pending.ts";

/** What a command that is on its way is about, for people. */
export interface Errand {
  readonly id: string;
  readonly method: OutboxEntry["method"];
  /** What was written: a prompt's text, a new name. */
  readonly text: string | null;
  /** The session's title, if it is about one. */
  readonly session: string | null;
  readonly state: "waiting" | "sent";
}

/** In the order they are sent. */
export function listErrands(
  outbox: readonly OutboxEntry[],
  titleOf: (sessionId: string) => string | undefined,
): Errand[] {
  return underWay(outbox).map((entry) => ({
    id: entry.commandId,
    method: entry.method,
    text: textParam(entry, "text") ?? textParam(entry, "title") ?? textParam(entry, "name"),
    session: titleOf(sessionOf(entry) ?? "") ?? null,
    state: entry.state === "sent" ? "sent" : "waiting",
  }));
}

/** Ids of the share links that are to be taken back. */
export const endingShares = (outbox: readonly OutboxEntry[]): ReadonlySet<string> =>
  new Set(
    underWay(outbox)
      .filter(({ method }) => method === "share.revoke")
      .map((entry) => textParam(entry, "shareId") ?? ""),
  );
