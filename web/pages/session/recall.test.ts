import { describe, expect, it } from "vitest";
import { Failure } from "../../../shared/protocol/errors.ts";
import type { TextBody } from "../../../shared/protocol/rows.ts";
import { listRequests } from "../../state/request-list.ts";
import { body, requestId, requestRow } from "../../testing/rows.ts";
import { createRecall } from "./recall.ts";

const requests = listRequests({
  [requestId(1)]: requestRow({ seq: 1, text: body("first") }),
  [requestId(2)]: requestRow({ seq: 2, text: body(""), kind: "continue" }),
  [requestId(3)]: requestRow({ seq: 3, text: body("second") }),
});
const whole = { text: async (text: TextBody) => text.head };

describe("createRecall", () => {
  it("goes back prompt by prompt and stops at the first", async () => {
    const recall = createRecall(() => requests, whole);
    expect(recall.isAt("")).toBe(true);
    expect(await recall.back()).toBe("second");
    expect(recall.isAt("second")).toBe(true);
    expect(await recall.back()).toBe("first");
    expect(await recall.back()).toBeNull();
  });

  it("leaves a text alone that was changed, and starts over from an empty box", async () => {
    const recall = createRecall(() => requests, whole);
    await recall.back();
    expect(recall.isAt("second, but")).toBe(false);
    expect(recall.isAt("")).toBe(true);
    expect(await recall.back()).toBe("second");
  });

  it("recalls nothing rather than half of a prompt", async () => {
    const recall = createRecall(() => requests, {
      text: async () => {
        throw new Failure("not_connected", "no connection");
      },
    });
    expect(await recall.back()).toBeNull();
  });
});
