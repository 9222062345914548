// Why the daemon refused a prompt, and what to do with it.

import type { WireError } from "../../../shared/protocol/errors.ts";
import { ProblemCard } from "../../components/problem-card.tsx";
import { wordsFor } from "../../state/error-words.ts";

export default function RefusedCard(props: {
  error: WireError;
  onEdit: () => void;
  onDismiss: () => void;
}) {
  const words = () => wordsFor(props.error);
  return (
    <ProblemCard
      tone="bad"
      what={`Not sent. ${words().what}`}
      todo={words().todo}
      actions={[
        { label: "Edit and send again", run: props.onEdit },
        { label: "Dismiss", run: props.onDismiss },
      ]}
    />
  );
}
