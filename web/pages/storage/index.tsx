// What this browser keeps of the sessions, what that takes, and how to keep less.

import { createSignal, onCleanup, onMount, Show } from "solid-js";
import type { StorageFacts } from "../../../workers/client.ts";
import { type Choice, ChoiceList } from "../../components/choice-list.tsx";
import { amount } from "../../state/amounts.ts";
import { problemWords } from "../../state/error-words.ts";
import { counted } from "../../state/times.ts";
import { useWorkbench } from "../../state/workbench.ts";
import { Settings } from "../frame/settings.tsx";

const REFRESH_MS = 5_000;
const EVERYTHING = "everything";
const DAYS = [7, 30, 90, 365] as const;

const CHOICES: readonly Choice[] = [
  {
    id: EVERYTHING,
    name: "Everything",
    description: "As much as this browser has room for, the newest sessions first.",
    aside: "",
  },
  ...DAYS.map((days) => ({
    id: String(days),
    name: days === 365 ? "The last year" : `The last ${days} days`,
    description: "Pinned sessions, and those that changed in that time.",
    aside: "",
  })),
];

/** Asks again while the page is open: what is kept changes by itself. */
function createFacts() {
  const { client } = useWorkbench();
  const [facts, setFacts] = createSignal<StorageFacts | null>(null);
  const [problem, setProblem] = createSignal<string | null>(null);
  // Of several questions under way only the last one counts.
  let asked = 0;
  const settle = async (question: Promise<StorageFacts>) => {
    const mine = ++asked;
    try {
      const answer = await question;
      if (mine !== asked) return;
      setFacts(answer);
      setProblem(null);
    } catch (error) {
      if (mine === asked) setProblem(problemWords(error));
    }
  };
  const refresh = () => void settle(client.storage());
  onMount(() => {
    refresh();
    const timer = setInterval(refresh, REFRESH_MS);
    onCleanup(() => clearInterval(timer));
  });
  return {
    facts,
    problem,
    refresh,
    keepDays: (days: number | null) => settle(client.keepDays(days)),
  };
}

export default function StoragePage() {
  const { facts, problem, refresh, keepDays } = createFacts();
  return (
    <Settings title="What this browser keeps">
      <p class="muted">
        The sessions are on the daemon. This browser keeps a copy, so that they open at once and
        without a connection. Whatever is not kept is fetched when it is opened. Prompts that wait
        to be sent and drafts are always kept.
      </p>
      <Show when={problem()}>
        {(words) => (
          <p class="problem bad" role="alert">
            {words()}
          </p>
        )}
      </Show>
      <Show
        when={facts()}
        fallback={
          <p class="quiet" role="status">
            Asking this browser what it keeps…
          </p>
        }
      >
        {(held) => (
          <>
            <h2>Keep</h2>
            <ChoiceList
              label="Keep"
              choices={CHOICES}
              chosen={held().days === null ? EVERYTHING : String(held().days)}
              onChoose={(id) => void keepDays(id === EVERYTHING ? null : Number(id))}
            />
            <h2>Now</h2>
            <Held facts={held()} />
            <Persistence isPersisted={held().isPersisted} onAsked={refresh} />
          </>
        )}
      </Show>
    </Settings>
  );
}

function Held(props: { facts: StorageFacts }) {
  const workbench = useWorkbench();
  const all = () => Object.keys(workbench.rows.session).length;
  const space = () => {
    const { usedBytes, budgetBytes } = props.facts;
    if (usedBytes === null) return "This browser does not say";
    return budgetBytes === null
      ? amount(usedBytes)
      : `${amount(usedBytes)} of ${amount(budgetBytes)} that it may take`;
  };
  const kept = () => {
    const { leftOut } = props.facts;
    const whole = Math.max(0, all() - leftOut);
    if (leftOut === 0) return `${counted(whole, "session")}, whole`;
    return `${counted(whole, "session")} whole; of ${counted(leftOut, "session")} only the title`;
  };
  return (
    <dl class="held">
      <dt>Kept</dt>
      <dd>{kept()}</dd>
      <dt>Space</dt>
      <dd>{space()}</dd>
    </dl>
  );
}

type Asked = "no" | "asking" | "refused";

/** A browser may clear what a page stored when the disk runs low, unless it promised not to. */
function Persistence(props: { isPersisted: boolean; onAsked: () => void }) {
  const [asked, setAsked] = createSignal<Asked>("no");
  // Absent over plain http on a network address.
  const storage: StorageManager | undefined = navigator.storage;
  const ask = async () => {
    setAsked("asking");
    setAsked((await storage?.persist()) ? "no" : "refused");
    props.onAsked();
  };
  return (
    <>
      <h2>When this device runs low on space</h2>
      <Show
        when={!props.isPersisted}
        fallback={
          <p class="muted under-head">
            This browser promised to keep it until you clear it yourself.
          </p>
        }
      >
        <p class="muted under-head">
          This browser may then clear all of it, unsent prompts included. What the daemon has is not
          touched.
        </p>
        <Show
          when={storage}
          fallback={<p class="quiet">Over this address it cannot be asked not to.</p>}
        >
          <p class="row under-head">
            <button
              type="button"
              class="btn"
              disabled={asked() === "asking"}
              onClick={() => void ask()}
            >
              Ask it to keep this
            </button>
            <span class="quiet" role="status">
              {asked() === "refused" &&
                "It did not agree. Browsers agree more readily once the page is installed or bookmarked."}
            </span>
          </p>
        </Show>
      </Show>
    </>
  );
}
