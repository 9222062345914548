// Who may open this daemon.

import { createMemo, For, Show } from "solid-js";
import type { DeviceId } from "../../../shared/ids.ts";
import type { DeviceRow } from "../../../shared/protocol/rows.ts";
import { RelativeTime } from "../../components/relative-time.tsx";
import { createNow } from "../../state/now.ts";
import { usePageTools } from "../../state/page-tools.ts";
import { titlesGranted } from "../../state/share-list.ts";
import { ago, exactTime } from "../../state/times.ts";
import { syncWords } from "../../state/words.ts";
import { useWorkbench } from "../../state/workbench.ts";
import { Settings } from "../frame/settings.tsx";

const ROLE_WORDS = {
  owner: "everything",
  guest: "work in sessions",
} as const satisfies Record<Exclude<DeviceRow["role"], "viewer">, string>;

const mayRead = (titles: readonly string[]) =>
  titles.length === 0
    ? "nothing: what was shared was taken back"
    : `read ${titles.map((title) => `“${title}”`).join(", ")}`;

const NOW_TICK_MS = 10_000;
const JUST_NOW_MS = 60_000;

type DeviceEntry = readonly [DeviceId, DeviceRow];

export default function DevicesPage() {
  const workbench = useWorkbench();
  const now = createNow(NOW_TICK_MS);
  const thisOne = () => {
    const state = workbench.connection();
    return state.kind === "live" ? state.deviceId : null;
  };
  // A device row's id is its device's id.
  const devices = createMemo(() =>
    Object.entries(workbench.rows.device)
      .map(([id, row]): DeviceEntry => [id as DeviceId, row])
      .filter(([, { revokedAt }]) => revokedAt === null)
      .sort(([, a], [, b]) => b.lastSeenAt - a.lastSeenAt)
      .sort(([a], [b]) => Number(b === thisOne()) - Number(a === thisOne())),
  );
  return (
    <Settings title="Devices">
      <Show
        when={!workbench.isViewer()}
        fallback={
          <p class="muted">Only the owner of this daemon sees which devices it has let in.</p>
        }
      >
        <p class="muted">Who may open this daemon, and when each was last here.</p>
        <Show
          when={devices().length > 0}
          fallback={
            <p class="quiet" role="status">
              {syncWords(workbench.connection(), { syncedAt: null, waiting: 0, now: now() })}
            </p>
          }
        >
          <DeviceTable devices={devices()} thisOne={thisOne()} now={now()} />
        </Show>
        <h2>Let another browser in</h2>
        <p class="muted">
          On the daemon's machine, run <code>troupe link</code>, and open the link it prints in the
          other browser. A link works once, for 10 minutes.
        </p>
      </Show>
    </Settings>
  );
}

function DeviceTable(props: {
  devices: readonly DeviceEntry[];
  thisOne: DeviceId | null;
  now: number;
}) {
  return (
    <table class="table">
      <thead>
        <tr>
          <th scope="col">Device</th>
          <th scope="col">May</th>
          <th scope="col">Last seen</th>
          <th scope="col">
            <span class="hidden">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        <For each={props.devices}>
          {(entry) => (
            <Device entry={entry} isThisOne={entry[0] === props.thisOne} now={props.now} />
          )}
        </For>
      </tbody>
    </table>
  );
}

function Device(props: { entry: DeviceEntry; isThisOne: boolean; now: number }) {
  const { dialogs } = usePageTools();
  const workbench = useWorkbench();
  const device = () => props.entry[1];
  const may = () => {
    const { session, grant } = workbench.rows;
    const { role } = device();
    return role === "viewer"
      ? mayRead(titlesGranted(props.entry[0], grant, session))
      : ROLE_WORDS[role];
  };
  const seen = () =>
    props.isThisOne || props.now - device().lastSeenAt < JUST_NOW_MS
      ? "now"
      : ago(device().lastSeenAt, props.now);
  return (
    <tr>
      <td>
        <b dir="auto">{device().name}</b>
        {props.isThisOne ? " · this one" : ""}
        <div class="fp quiet">{device().fingerprint}</div>
      </td>
      <td data-label="May" dir="auto">
        {may()}
      </td>
      <td data-label="Last seen">
        <RelativeTime
          at={device().lastSeenAt}
          words={seen()}
          exact={exactTime(device().lastSeenAt)}
        />
      </td>
      <td class="row">
        <button
          type="button"
          class="btn"
          aria-label={`Rename ${device().name}`}
          onClick={() =>
            dialogs.open({ kind: "rename-device", deviceId: props.entry[0], name: device().name })
          }
        >
          Rename
        </button>
        <button
          type="button"
          class="btn"
          aria-label={`Revoke ${device().name}`}
          onClick={() =>
            dialogs.open({
              kind: "revoke-device",
              deviceId: props.entry[0],
              name: device().name,
              isThisOne: props.isThisOne,
            })
          }
        >
          Revoke
        </button>
      </td>
    </tr>
  );
}
