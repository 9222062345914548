// What went wrong, over the page until somebody has read it.

import X from "lucide-solid/icons/x";
import { createMemo, For, type JSX, Show } from "solid-js";
import { CopyButton } from "../../components/copy-button.tsx";
import { createFocusHeir } from "../../components/return-focus.ts";
import { refusedWords, wordsFor } from "../../state/error-words.ts";
import type { Refusal } from "../../state/pending.ts";
import { counted } from "../../state/times.ts";
import { type NoticeText, useWorkbench } from "../../state/workbench.ts";

export default function Notices() {
  const workbench = useWorkbench();
  // By key: with every change of the outbox each refusal is another object.
  const refusals = createMemo(() => bySameReason(workbench.refusals()));
  const keys = createMemo(() => [...refusals().keys()]);
  return (
    <>
      <For each={keys()}>
        {(key) => (
          <Show when={refusals().get(key)}>
            {(same) => (
              <RefusalNotice
                refusals={same()}
                onDismiss={() => {
                  for (const { id } of same()) workbench.withdraw(id);
                }}
              />
            )}
          </Show>
        )}
      </For>
      <For each={workbench.notices()}>
        {(notice) => (
          <Notice onDismiss={() => workbench.dismiss(notice.id)}>
            <b>{wordsOf(notice.text).what}</b> {wordsOf(notice.text).todo}
          </Notice>
        )}
      </For>
    </>
  );
}

const wordsOf = (text: NoticeText) => ("code" in text ? wordsFor(text) : text);

type Refusals = readonly [Refusal, ...Refusal[]];

/** Prompts written one after the other are refused one after the other: the reason is said once. */
function bySameReason(refusals: readonly Refusal[]): Map<string, Refusals> {
  const groups = new Map<string, Refusals>();
  for (const refusal of refusals) {
    const key = `${refusal.method} ${refusal.error.code}`;
    groups.set(key, [...(groups.get(key) ?? []), refusal] as const);
  }
  return groups;
}

function RefusalNotice(props: { refusals: Refusals; onDismiss: () => void }) {
  const first = () => props.refusals[0];
  const words = () => wordsFor(first().error);
  const what = () =>
    props.refusals.length > 1 && first().method === "session.prompt"
      ? `${counted(props.refusals.length, "prompt")} were refused.`
      : refusedWords(first().method);
  const texts = () => props.refusals.flatMap(({ text }) => (text === null ? [] : [text]));
  return (
    <Notice onDismiss={props.onDismiss}>
      <b>{what()}</b> {words().what} {words().todo}
      <For each={texts()}>
        {(text) => (
          <>
            <span class="refused-text" dir="auto">
              {text}
            </span>
            <CopyButton label="Copy the prompt" text={() => text} worded />
          </>
        )}
      </For>
    </Notice>
  );
}

function Notice(props: { onDismiss: () => void; children: JSX.Element }) {
  let button: HTMLButtonElement | undefined;
  createFocusHeir(() => button);
  return (
    <div class="notice">
      <div>{props.children}</div>
      <button
        ref={button}
        type="button"
        class="icon-button"
        aria-label="Dismiss"
        onClick={props.onDismiss}
      >
        <X size={14} aria-hidden="true" />
      </button>
    </div>
  );
}
