// The launch link's secret: read once at start, then gone from the address bar, history and this page.

interface Place {
  readonly hash: string;
  readonly pathname: string;
  readonly search: string;
}

interface Past {
  replaceState(state: unknown, unused: string, url: string): void;
}

const PREFIX = "#enrol=";

/** The secret of `#enrol=SECRET`, or null. The address bar no longer shows it afterwards. */
export function takeEnrolment(place: Place, past: Past): string | null {
  // The address changes under `place`: what it said has to be read before.
  const { hash, pathname, search } = place;
  if (!hash.startsWith(PREFIX)) return null;
  past.replaceState(null, "", pathname + search);
  const secret = hash.slice(PREFIX.length);
  return /^[\w-]{1,128}$/.test(secret) ? secret : null;
}
