import { describe, expect, it } from "vitest";
import { requestId, requestRow, turnRow } from "../testing/rows.ts";
import { listRequests, sameTurns, turnsByRequest } from "./request-list.ts";

describe("listRequests", () => {
  it("orders by the daemon's number and tells shown, queued and undone apart", () => {
    const list = listRequests({
      [requestId(1)]: requestRow({ seq: 10 }),
      [requestId(2)]: requestRow({ seq: 2 }),
      [requestId(3)]: requestRow({ seq: 11, undone: true }),
      [requestId(4)]: requestRow({ seq: 12, state: "queued" }),
    });
    expect(list.shown.map(([id]) => id)).toEqual([requestId(2), requestId(1)]);
    expect(list.queued.map(([id]) => id)).toEqual([requestId(4)]);
    expect(list.undoneCount).toBe(1);
  });
});

it("turns stand under their request in the order of their numbers, not of their digits", () => {
  const turns = turnsByRequest({
    "10": turnRow(),
    "9": turnRow(),
    "11": turnRow({ requestId: requestId(2) }),
  });
  expect(turns.get(requestId(1))?.map(([id]) => id)).toEqual([9, 10]);
  expect(turns.get(requestId(2))?.map(([id]) => id)).toEqual([11]);
});

it("turns are the same only when each row is the same", () => {
  const row = turnRow();
  expect(sameTurns([[1, row]], [[1, row]])).toBe(true);
  expect(sameTurns([[1, row]], [[1, turnRow()]])).toBe(false);
  expect(sameTurns([[1, row]], undefined)).toBe(false);
});
