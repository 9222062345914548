// Which protocol version both sides speak, and whom to update if there is none.

import { Failure } from "../../shared/protocol/errors.ts";

/** The highest version in both lists. Throws `Failure` version_mismatch. */
export function negotiateVersion(
  spoken: readonly number[],
  offered: readonly number[],
  daemonVersion: string,
): number {
  const common = spoken.filter((version) => offered.includes(version));
  if (common.length > 0) return Math.max(...common);
  const ours = spoken.join(", ");
  const theirs = offered.length > 0 ? offered.join(", ") : "none";
  const clientIsOlder = Math.max(0, ...offered) < Math.max(...spoken);
  const remedy = clientIsOlder
    ? "Update the client: reload the page, or close all its tabs and open it again."
    : "Update the daemon: it is older than this client.";
  throw new Failure(
    "version_mismatch",
    `The daemon (${daemonVersion}) speaks protocol ${ours}, the client ${theirs}. ${remedy}`,
    {
      details: { daemonVersion, daemonProtocol: ours, update: clientIsOlder ? "client" : "daemon" },
    },
  );
}
