// Going back through earlier prompts from an empty box.

import type { WorkersClient } from "../../../workers/client.ts";
import type { RequestList } from "../../state/request-list.ts";

export interface Recall {
  /** True where Up recalls: the box is empty, or holds what was recalled last, unchanged. */
  isAt(text: string): boolean;
  /** The prompt before the one recalled last; null if there is none or it cannot be read. */
  back(): Promise<string | null>;
  reset(): void;
}

export function createRecall(
  requests: () => RequestList,
  client: Pick<WorkersClient, "text">,
): Recall {
  let steps = 0;
  let recalled = "";
  const prompts = () =>
    [...requests().shown, ...requests().queued].filter(([, { kind }]) => kind === "prompt");
  return {
    isAt(text) {
      if (text === "") steps = 0;
      return text === "" || (steps > 0 && text === recalled);
    },
    async back() {
      const request = prompts().at(-1 - steps)?.[1];
      if (!request) return null;
      steps += 1;
      try {
        recalled = await client.text(request.text);
        return recalled;
      } catch {
        // A long prompt that is not on this device: half of it would be worse than none.
        steps -= 1;
        return null;
      }
    },
    reset() {
      steps = 0;
      recalled = "";
    },
  };
}
