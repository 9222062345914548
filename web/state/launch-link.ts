// The secret of the link that opened this page: read once at start, then gone from the address bar,
// history and this page.

import type { Enrolment } from "../../workers/client.ts";

interface Place {
  readonly hash: string;
  readonly pathname: string;
  readonly search: string;
}

interface Past {
  replaceState(state: unknown, unused: string, url: string): void;
}

const LINK = /^#(enrol|share)=/;

/** The secret of `#enrol=SECRET` or `#share=SECRET`, or null. The address bar no longer shows it afterwards. */
export function takeEnrolment(place: Place, past: Past): Enrolment | null {
  // The address changes under `place`: what it said has to be read before.
  const { hash, pathname, search } = place;
  const link = LINK.exec(hash);
  if (link === null) return null;
  past.replaceState(null, "", pathname + search);
  const secret = hash.slice(link[0].length);
  if (!/^[\w-]{1,128}$/.test(secret)) return null;
  return { kind: link[1] === "share" ? "share" : "launch", secret };
}

/** The address that lets whoever opens it read one session. */
export const shareLink = (origin: string, sessionId: string, secret: string): string =>
  `${origin}/s/${sessionId}#share=${secret}`;
