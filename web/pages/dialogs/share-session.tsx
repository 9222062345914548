// Links that let others read a session: makes one and shows it once, lists those there are, takes them back.

import { createMemo, createSignal, For, Show } from "solid-js";
import type { SessionId } from "../../../shared/ids.ts";
import { type Choice, ChoiceList } from "../../components/choice-list.tsx";
import { CopyButton } from "../../components/copy-button.tsx";
import { createFocusHeir } from "../../components/return-focus.ts";
import { endingShares } from "../../state/errands.ts";
import { shareLink } from "../../state/launch-link.ts";
import { createNow } from "../../state/now.ts";
import { listShares, type ShareEntry } from "../../state/share-list.ts";
import { makeShareSecret, type ShareSecret } from "../../state/share-secret.ts";
import { ago, counted, timeLeft } from "../../state/times.ts";
import { useWorkbench } from "../../state/workbench.ts";
import { Modal } from "./modal.tsx";

const NOW_TICK_MS = 30_000;
const FOREVER = "forever";
const DAYS = [1, 7, 30] as const;
const FIRST_CHOICE = "7";

const CHOICES: readonly Choice[] = [
  ...DAYS.map((days) => ({
    id: String(days),
    name: days === 1 ? "For a day" : `For ${days} days`,
    description: "",
    aside: "",
  })),
  { id: FOREVER, name: "Until it is taken back", description: "", aside: "" },
];

/** Names that only the daemon's own machine understands. */
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

const randomBytes = (length: number) => crypto.getRandomValues(new Uint8Array(length));

export default function ShareSession(props: { sessionId: SessionId; onClose: () => void }) {
  const workbench = useWorkbench();
  const { sessionId } = props;
  const [made, setMade] = createSignal<ShareSecret | null>(null);
  const [chosen, setChosen] = createSignal<string>(FIRST_CHOICE);
  const shares = createMemo(() => {
    const { share, grant, device } = workbench.rows;
    return listShares(share[sessionId] ?? {}, grant[sessionId] ?? {}, device);
  });
  const make = () => {
    const share = makeShareSecret(randomBytes);
    const days = chosen() === FOREVER ? null : Number(chosen());
    workbench.run("share.create", { sessionId, shareId: share.shareId, days });
    setMade(share);
  };
  return (
    <Modal title="Share this session" onClose={props.onClose}>
      <p class="muted">
        Whoever opens the link can read this session as it goes on, and nothing else. They can
        change nothing.
      </p>
      <Show
        when={made()}
        fallback={<MakeLink chosen={chosen()} onChoose={setChosen} onMake={make} />}
      >
        {(share) => (
          <MadeLink
            link={shareLink(location.origin, sessionId, share().secret)}
            isReady={shares().some(({ id }) => id === share().shareId)}
          />
        )}
      </Show>
      <Shares
        shares={shares()}
        onRevoke={(shareId) => {
          workbench.run("share.revoke", { sessionId, shareId });
          if (made()?.shareId === shareId) setMade(null);
        }}
      />
    </Modal>
  );
}

function MakeLink(props: { chosen: string; onChoose: (id: string) => void; onMake: () => void }) {
  return (
    <div class="share-make">
      <ChoiceList
        label="How long the link works"
        choices={CHOICES}
        chosen={props.chosen}
        onChoose={props.onChoose}
      />
      <div class="row ends">
        <span />
        <button type="button" class="btn primary" onClick={props.onMake}>
          Make a link
        </button>
      </div>
    </div>
  );
}

/** `isReady`: the daemon has it; before that the link leads nowhere. */
function MadeLink(props: { link: string; isReady: boolean }) {
  const workbench = useWorkbench();
  const isOnline = () => workbench.connection().kind === "live";
  const state = () => {
    if (props.isReady) return "This link is shown only now. Copy it before you close this.";
    return isOnline()
      ? "The daemon is being told of it…"
      : "It works once the daemon is back and knows of it. It is shown only now.";
  };
  return (
    <div class="share-make">
      <div class="field command">
        <input
          ref={(field) => queueMicrotask(() => field.select())}
          type="text"
          readOnly
          aria-label="Link"
          value={props.link}
          onFocus={(event) => event.currentTarget.select()}
        />
        <CopyButton label="Copy the link" text={() => props.link} worded />
      </div>
      <p class="quiet under-field" role="status">
        {state()}
      </p>
      <Show when={LOOPBACK.test(location.hostname)}>
        <p class="quiet under-field">
          This page was opened as {location.host}, an address that only this machine knows: the link
          works in its browsers alone.
        </p>
      </Show>
    </div>
  );
}

function Shares(props: { shares: readonly ShareEntry[]; onRevoke: (shareId: string) => void }) {
  const now = createNow(NOW_TICK_MS);
  const ids = createMemo(() => props.shares.map(({ id }) => id));
  const byId = createMemo(() => new Map(props.shares.map((share) => [share.id, share])));
  const { outbox } = useWorkbench();
  const ending = createMemo(() => endingShares(outbox()));
  return (
    <Show when={ids().length > 0}>
      <h3>{counted(ids().length, "link")} to this session</h3>
      <ul class="shares">
        <For each={ids()}>
          {(id) => (
            <Show when={byId().get(id)}>
              {(share) => (
                <OneShare
                  share={share()}
                  now={now()}
                  isEnding={ending().has(id)}
                  onRevoke={() => props.onRevoke(id)}
                />
              )}
            </Show>
          )}
        </For>
      </ul>
    </Show>
  );
}

function OneShare(props: {
  share: ShareEntry;
  now: number;
  /** The daemon is to take it back, and has not said that it did. */
  isEnding: boolean;
  onRevoke: () => void;
}) {
  let item: HTMLLIElement | undefined;
  createFocusHeir(() => item, focusDialog);
  const made = () => `Made ${ago(props.share.createdAt, props.now)}`;
  const end = () => {
    const { expiresAt } = props.share;
    return expiresAt === null ? "no end" : `${timeLeft(expiresAt, props.now)} left`;
  };
  const viewers = () => {
    const { viewers } = props.share;
    return viewers.length === 0 ? "Nobody opened it yet" : `Read by ${viewers.join(", ")}`;
  };
  return (
    <li ref={item}>
      <span>
        {viewers()}
        <small class="quiet">
          <Show when={!props.isEnding} fallback={<Ending />}>
            {made()} · {end()}
          </Show>
        </small>
      </span>
      <Show when={!props.isEnding}>
        <TakeBack
          label={`Take back the link made ${ago(props.share.createdAt, props.now)}`}
          onRevoke={props.onRevoke}
        />
      </Show>
    </li>
  );
}

function TakeBack(props: { label: string; onRevoke: () => void }) {
  let button: HTMLButtonElement | undefined;
  createFocusHeir(() => button, focusDialog);
  return (
    <button
      ref={button}
      type="button"
      class="btn"
      aria-label={props.label}
      onClick={props.onRevoke}
    >
      Take back
    </button>
  );
}

function Ending() {
  const { isCutOff } = useWorkbench();
  return (
    <span role="status">
      {isCutOff() ? "Will be taken back when the daemon is back" : "Being taken back…"}
    </span>
  );
}

/** What stood there is gone; the dialog is not. */
function focusDialog(): void {
  document.querySelector<HTMLElement>(".dialog button")?.focus();
}
