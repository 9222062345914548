import { describe, expect, it } from "vitest";
import { body, toolCall, toolResultRow, turnRow } from "../testing/rows.ts";
import { foldCalls, type ShownCall, transcriptItems } from "./transcript-items.ts";

const keys = (...args: Parameters<typeof transcriptItems>) =>
  transcriptItems(...args).map(({ key }) => key);

function shown(...calls: Parameters<typeof toolCall>[]): ShownCall[] {
  const turn = turnRow({ calls: calls.map((args) => toolCall(...args)) });
  const item = transcriptItems([[1, turn]], {})[0];
  return item?.kind === "calls" ? item.calls : [];
}

describe("transcriptItems", () => {
  it("shows reasoning, answer and calls of a turn in this order", () => {
    const turn = turnRow({ answer: body("a"), reasoning: body("r"), calls: [toolCall("x")] });
    expect(keys([[3, turn]], {})).toEqual(["r3", "a3", "c3"]);
  });

  it("keeps a place for a turn that streams, and none for one that said nothing", () => {
    expect(keys([[1, turnRow({ state: "streaming" })]], {})).toEqual(["r1", "a1"]);
    expect(keys([[1, turnRow()]], {})).toEqual([]);
  });

  it("puts calls of turns without a word between them together", () => {
    const turns = [
      [1, turnRow({ calls: [toolCall("a")] })],
      [2, turnRow({ calls: [toolCall("b")] })],
      [3, turnRow({ answer: body("so"), calls: [toolCall("c")] })],
    ] as const;
    expect(keys(turns, {})).toEqual(["c1", "a3", "c3"]);
  });

  it("[F1] takes description and outcome from the result's row once it is there", () => {
    const turn = turnRow({ state: "calling", calls: [toolCall("a", { state: "pending" })] });
    const before = transcriptItems([[1, turn]], {})[0];
    const after = transcriptItems([[1, turn]], {
      "1/a": toolResultRow("a", { isError: true, note: "3 failed" }),
    })[0];
    expect(before).toMatchObject({ calls: [{ state: "pending", description: "Call a" }] });
    expect(after).toMatchObject({
      calls: [{ state: "failed", description: "Result a", note: "3 failed" }],
    });
  });
});

describe("foldCalls", () => {
  it("folds three or more finished calls in a row and leaves two alone", () => {
    expect(foldCalls(shown(["a"], ["b"])).map(({ kind }) => kind)).toEqual(["single", "single"]);
    expect(foldCalls(shown(["a"], ["b"], ["c"])).map(({ kind }) => kind)).toEqual(["folded"]);
  });

  it("never folds what runs or failed", () => {
    const runs = foldCalls(
      shown(["a"], ["b"], ["c"], ["d", { state: "failed" }], ["e"], ["f", { state: "pending" }]),
    );
    expect(runs.map(({ key }) => key)).toEqual(["f1/a", "1/d", "1/e", "1/f"]);
  });
});
