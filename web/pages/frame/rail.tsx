// The rail: the daemon's state, a way to start, the sessions, and where this device stands.

import { A } from "@solidjs/router";
import Monitor from "lucide-solid/icons/monitor";
import MonitorSmartphone from "lucide-solid/icons/monitor-smartphone";
import Moon from "lucide-solid/icons/moon";
import Sun from "lucide-solid/icons/sun";
import { createMemo, createSignal, For, Match, Show, Switch } from "solid-js";
import { Dot, type DotKind } from "../../components/dot.tsx";
import { createNow } from "../../state/now.ts";
import { usePageTools } from "../../state/page-tools.ts";
import { underWay } from "../../state/pending.ts";
import { groupSessions, SESSION_GROUPS, type SessionGroup } from "../../state/session-groups.ts";
import { altShortcut } from "../../state/shortcuts.ts";
import { counted } from "../../state/times.ts";
import { daemonWords, syncWords } from "../../state/words.ts";
import { useWorkbench } from "../../state/workbench.ts";
import { SessionItem } from "./session-item.tsx";

const AGE_TICK_MS = 30_000;
/** Below this many sessions a filter is only clutter. */
const FILTER_MIN_SESSIONS = 6;

export function Rail(props: {
  currentId: string | null;
  /** A link in the rail was followed, or a dialog opened. */
  onLeave: () => void;
}) {
  const workbench = useWorkbench();
  const { dialogs } = usePageTools();
  const now = createNow(AGE_TICK_MS);
  const [filter, setFilter] = createSignal("");
  const groups = createMemo(() => groupSessions(workbench.sessions(), filter(), now()));
  const isEmpty = () => SESSION_GROUPS.every((name) => groups()[name].length === 0);
  return (
    <>
      <div class="brand">
        <A href="/">Troupe</A>
        <small>
          <Dot kind={connectionDot(workbench.connection().kind)} />
          {daemonWords(workbench.connection())}
        </small>
      </div>
      <Show
        when={!workbench.isViewer()}
        fallback={
          // Without a row of its own nothing is known of this browser yet.
          <Show when={Object.keys(workbench.rows.device).length > 0}>
            <p class="rail-note">Shared with this browser, to read.</p>
          </Show>
        }
      >
        <button
          type="button"
          class="new"
          aria-keyshortcuts="Alt+N"
          onClick={() => {
            props.onLeave();
            dialogs.open({ kind: "new-session" });
          }}
        >
          New session <kbd>{altShortcut("N")}</kbd>
        </button>
      </Show>
      <Show when={workbench.sessions().length >= FILTER_MIN_SESSIONS || filter() !== ""}>
        <input
          type="search"
          class="filter"
          aria-label="Filter sessions"
          placeholder="Filter"
          value={filter()}
          onInput={(event) => setFilter(event.currentTarget.value)}
        />
      </Show>
      <div class="scroll sessions">
        <For each={SESSION_GROUPS}>
          {(name) => (
            <Group
              name={name}
              groups={groups()}
              currentId={props.currentId}
              now={now()}
              onLeave={props.onLeave}
            />
          )}
        </For>
        <Show when={isEmpty()}>
          <p class="rail-empty" role="status">
            {filter() === "" ? "Sessions appear here." : "No session matches the filter."}
          </p>
        </Show>
      </div>
      <Foot />
    </>
  );
}

function Group(props: {
  name: SessionGroup;
  groups: ReturnType<typeof groupSessions>;
  currentId: string | null;
  now: number;
  onLeave: () => void;
}) {
  const [isArchiveOpen, setIsArchiveOpen] = createSignal(false);
  const sessions = () => props.groups[props.name];
  const ids = createMemo(() => sessions().map(({ id }) => id));
  const byId = createMemo(() => new Map(sessions().map((session) => [session.id, session])));
  const isArchive = () => props.name === "Archived";
  return (
    <Show when={ids().length > 0}>
      <Show when={isArchive()} fallback={<h2 class="group">{props.name}</h2>}>
        <button
          type="button"
          class="group"
          aria-expanded={isArchiveOpen()}
          onClick={() => setIsArchiveOpen(!isArchiveOpen())}
        >
          {isArchiveOpen() ? "Hide" : "Show"} {counted(ids().length, "archived session")}
        </button>
      </Show>
      <Show when={!isArchive() || isArchiveOpen()}>
        <ul aria-label={props.name}>
          <For each={ids()}>
            {(id) => (
              <Show when={byId().get(id)}>
                {(session) => (
                  <SessionItem
                    session={session()}
                    isCurrent={id === props.currentId}
                    now={props.now}
                    onLeave={props.onLeave}
                  />
                )}
              </Show>
            )}
          </For>
        </ul>
      </Show>
    </Show>
  );
}

function connectionDot(
  kind: ReturnType<ReturnType<typeof useWorkbench>["connection"]>["kind"],
): DotKind {
  if (kind === "live") return "ok";
  if (kind === "refused" || kind === "changed-key") return "bad";
  return kind === "offline" ? "idle" : "live";
}

/** The first page of the settings. A viewer has no say in devices. */
function SettingsLink(props: { isViewer: boolean }) {
  const words = () => (props.isViewer ? "What this browser keeps" : "Devices");
  return (
    <A
      class="icon-button"
      href={props.isViewer ? "/settings/storage" : "/settings/devices"}
      aria-label={words()}
      title={words()}
    >
      <MonitorSmartphone size={15} aria-hidden="true" />
    </A>
  );
}

function Foot() {
  const workbench = useWorkbench();
  const { dialogs, themeChoice, update } = usePageTools();
  const now = createNow(1_000);
  const waiting = () => underWay(workbench.outbox()).length;
  const sync = () =>
    syncWords(workbench.connection(), {
      syncedAt: workbench.syncedAt(),
      waiting: waiting(),
      now: now(),
    });
  return (
    <div class="foot-area">
      <Show when={update.isReady()}>
        <div class="update">
          <span>Update ready</span>
          <button type="button" class="btn" onClick={() => void update.apply()}>
            Reload
          </button>
        </div>
      </Show>
      <div class="foot">
        <Dot kind={connectionDot(workbench.connection().kind)} />
        <Show when={waiting() > 0} fallback={<span class="sync">{sync()}</span>}>
          <button
            type="button"
            class="sync"
            title="What is on its way"
            onClick={() => dialogs.open({ kind: "on-its-way" })}
          >
            {sync()}
          </button>
        </Show>
        <SettingsLink isViewer={workbench.isViewer()} />
        <button
          type="button"
          class="icon-button"
          aria-label={`Theme: ${themeChoice.theme()}`}
          title={`Theme: ${themeChoice.theme()}`}
          onClick={themeChoice.turn}
        >
          <Switch fallback={<Monitor size={15} aria-hidden="true" />}>
            <Match when={themeChoice.theme() === "light"}>
              <Sun size={15} aria-hidden="true" />
            </Match>
            <Match when={themeChoice.theme() === "dark"}>
              <Moon size={15} aria-hidden="true" />
            </Match>
          </Switch>
        </button>
      </div>
    </div>
  );
}
