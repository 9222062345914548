// The three steps to a session. The same on the first visit and in the dialog.

import Check from "lucide-solid/icons/check";
import { For, type JSX, Show } from "solid-js";
import { ChoiceList } from "../../components/choice-list.tsx";
import { FolderField } from "../../components/folder-field.tsx";
import { firstQuestions } from "../../state/first-questions.ts";
import { folderFacts } from "../../state/folder-question.ts";
import type { SessionSetup } from "../../state/session-setup.ts";
import { modelName } from "../../state/words.ts";

function Step(props: { at: number; title: string; isDone: boolean; children: JSX.Element }) {
  return (
    <section class="step-n" classList={{ done: props.isDone }}>
      <i aria-hidden="true">
        <Show when={props.isDone} fallback={props.at}>
          <Check size={14} />
        </Show>
      </i>
      <div>
        <h2>{props.title}</h2>
        {props.children}
      </div>
    </section>
  );
}

export function SetupSteps(props: { setup: SessionSetup; onSubmit: () => void }) {
  const { setup } = props;
  const folder = () => setup.folder()?.folder ?? null;
  const facts = () => {
    const found = folder();
    return found ? folderFacts(found) : "";
  };
  const choices = () =>
    setup.models().map(({ id, name, description }) => ({
      id,
      name,
      description,
      aside: modelName(id),
    }));
  return (
    <>
      <Step at={1} title="Folder" isDone={folder() !== null}>
        <FolderField
          value={setup.path()}
          onInput={setup.setPath}
          placeholder={folder()?.shown ?? "~/code/project"}
          completions={setup.folder()?.completions ?? []}
          facts={facts()}
          problem={setup.folder()?.problem ?? null}
          note={setup.folder()?.isUnknown ? "Checked once the daemon answers." : null}
        />
      </Step>
      <Step at={2} title="Model" isDone={setup.model() !== null}>
        <Show
          when={choices().length > 0}
          fallback={<p class="quiet">The daemon's preferred model, once it answers.</p>}
        >
          <ChoiceList
            label="Model"
            choices={choices()}
            chosen={setup.model()}
            onChoose={setup.setModel}
          />
        </Show>
      </Step>
      <Step at={3} title="First question" isDone={setup.question().trim() !== ""}>
        <FirstQuestion setup={setup} onSubmit={props.onSubmit} />
      </Step>
    </>
  );
}

function FirstQuestion(props: { setup: SessionSetup; onSubmit: () => void }) {
  const { setup } = props;
  return (
    <>
      <div class="row">
        <For each={firstQuestions(setup.folder()?.folder ?? null)}>
          {(question) => (
            <button
              type="button"
              class="btn"
              aria-pressed={setup.question() === question}
              onClick={() => setup.setQuestion(question)}
            >
              {question}
            </button>
          )}
        </For>
      </div>
      <input
        type="text"
        class="field question"
        dir="auto"
        aria-label="First question"
        placeholder="Or ask in your own words"
        autocomplete="off"
        value={setup.question()}
        onInput={(event) => setup.setQuestion(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && !event.isComposing) {
            event.preventDefault();
            props.onSubmit();
          }
        }}
      />
    </>
  );
}
