// Why a text is not here, or not all of it.

import { missingTextWords, problemWords } from "../../state/error-words.ts";

export default function ProblemText(props: {
  error: unknown;
  /** Its beginning is there. */
  isPart?: boolean;
}) {
  return <>{props.isPart ? missingTextWords(props.error) : problemWords(props.error)}</>;
}
