// A prompt the daemon has not taken: where it is, and what can still be done with it.

import { createSignal, Match, Show, Switch } from "solid-js";
import type { SessionId } from "../../../shared/ids.ts";
import { smallPart } from "../../components/lazy-part.tsx";
import { createFocusHeir } from "../../components/return-focus.ts";
import type { PendingPrompt } from "../../state/pending.ts";
import { receiptWords } from "../../state/words.ts";
import { useWorkbench } from "../../state/workbench.ts";

const PromptEditor = smallPart(() => import("./prompt-editor.tsx"));
const RefusedCard = smallPart(() => import("./refused-card.tsx"));

export interface PendingProps {
  sessionId: SessionId;
  prompt: PendingPrompt;
  /** A change came to nothing: the text goes where it can still be used. */
  onUnused: (text: string) => void;
}

export function Pending(props: PendingProps) {
  const { isEditing, setIsEditing, save, leave } = createEditing(props);
  const refusal = () => props.prompt.error;
  let article: HTMLElement | undefined;
  createFocusHeir(() => article);
  return (
    <article ref={article} class="request">
      <Show
        when={isEditing()}
        fallback={
          <div class="said waiting" dir="auto">
            {props.prompt.text}
          </div>
        }
      >
        <PromptEditor
          text={props.prompt.text}
          action={refusal() === null ? "Save" : "Send again"}
          onSave={save}
          onCancel={() => setIsEditing(false)}
          onLeft={leave}
        />
      </Show>
      <Show when={!isEditing()}>
        <Receipt prompt={props.prompt} onEdit={() => setIsEditing(true)} />
      </Show>
    </article>
  );
}

function Receipt(props: { prompt: PendingPrompt; onEdit: () => void }) {
  const workbench = useWorkbench();
  const takeBack = () => workbench.withdraw(props.prompt.id);
  return (
    <Switch>
      <Match when={props.prompt.error}>
        {(error) => <RefusedCard error={error()} onEdit={props.onEdit} onDismiss={takeBack} />}
      </Match>
      <Match when={props.prompt.state}>
        {(state) => (
          <p class="quiet receipt">
            <span>
              {receiptWords(state() === "waiting" ? "waiting" : "sent", workbench.connection())}
            </span>
            <Show when={state() === "waiting"}>
              <span>
                <button type="button" class="quiet-button" onClick={props.onEdit}>
                  Edit
                </button>
                <button type="button" class="quiet-button" onClick={takeBack}>
                  Remove
                </button>
              </span>
            </Show>
          </p>
        )}
      </Match>
    </Switch>
  );
}

const TOO_LATE = {
  what: "Your change came too late: the prompt was sent as it was.",
  todo: "What you typed is in the box below.",
};

/** Whatever happens to the prompt meanwhile, what is typed is sent with it or kept. */
function createEditing(props: PendingProps) {
  const workbench = useWorkbench();
  const { sessionId } = props;
  const { id } = props.prompt;
  const [isEditing, setIsEditing] = createSignal(false);
  const state = () => workbench.outbox().find(({ commandId }) => commandId === id)?.state;
  const sendAgain = (text: string) => {
    workbench.run("session.prompt", { sessionId, text });
    workbench.withdraw(id);
  };
  const change = async (text: string) => {
    if (await workbench.amend(id, { sessionId, text })) return;
    workbench.notify(TOO_LATE);
    props.onUnused(text);
  };
  return {
    isEditing,
    setIsEditing,
    save(text: string) {
      setIsEditing(false);
      if (state() === "refused") sendAgain(text);
      else void change(text);
    },
    /** The editor went with text in it that was not saved. */
    leave(text: string) {
      if (state() === undefined || state() === "sent") workbench.notify(TOO_LATE);
      props.onUnused(text);
    },
  };
}
