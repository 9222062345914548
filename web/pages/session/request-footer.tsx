// The quiet line at the end of an answer: copy, link, and what it took.

import { A } from "@solidjs/router";
import LinkIcon from "lucide-solid/icons/link";
import { For } from "solid-js";
import type { SessionId } from "../../../shared/ids.ts";
import { CopyButton } from "../../components/copy-button.tsx";
import { RelativeTime } from "../../components/relative-time.tsx";
import type { TurnEntry } from "../../state/request-list.ts";
import { clockTime, counted, exactTime } from "../../state/times.ts";
import { modelName } from "../../state/words.ts";
import { useWorkbench } from "../../state/workbench.ts";
import { copyLink } from "../frame/session-actions.tsx";

function facts(turns: readonly TurnEntry[]): string[] {
  const last = turns.at(-1)?.[1];
  const tokens = turns.reduce((sum, [, { usage }]) => sum + (usage?.outputTokens ?? 0), 0);
  return [
    ...(last ? [modelName(last.model)] : []),
    ...(tokens > 0 ? [counted(tokens, "token")] : []),
  ];
}

export function RequestFooter(props: { sessionId: SessionId; turns: readonly TurnEntry[] }) {
  const workbench = useWorkbench();
  const lastId = () => props.turns.at(-1)?.[0] ?? 0;
  const endedAt = () => {
    const turn = props.turns.at(-1)?.[1];
    return turn?.endedAt ?? turn?.createdAt ?? 0;
  };
  const link = () => `/s/${props.sessionId}#t${lastId()}`;
  const source = async () => {
    const said = props.turns.filter(([, { answer }]) => answer.size > 0);
    const texts = await Promise.all(said.map(([, { answer }]) => workbench.client.text(answer)));
    return texts.join("\n\n");
  };
  return (
    <div class="turn-foot">
      <CopyButton label="Copy answer" text={source} />
      <A
        class="quiet-button"
        href={link()}
        aria-label="Link to this turn"
        title="Link to this turn"
        noScroll
        onClick={() => void copyLink(link(), workbench)}
      >
        <LinkIcon size={14} aria-hidden="true" />
      </A>
      <For each={facts(props.turns)}>{(fact) => <span>{fact}</span>}</For>
      <RelativeTime at={endedAt()} words={clockTime(endedAt())} exact={exactTime(endedAt())} />
    </div>
  );
}
