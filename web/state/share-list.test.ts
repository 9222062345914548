import { expect, it } from "vitest";
import { deviceId, deviceRow, sessionId, sessionRow } from "../testing/rows.ts";
import { listShares, titlesGranted } from "./share-list.ts";

const share = (createdAt: number) => ({ createdAt, createdBy: null, expiresAt: null });

it("lists the newest link first, with the names of those who came by it", () => {
  const listed = listShares(
    { old: share(1), fresh: share(2) },
    {
      [deviceId(1)]: { shareId: "old", createdAt: 9 },
      [deviceId(2)]: { shareId: "old", createdAt: 5 },
      [deviceId(3)]: { shareId: "gone", createdAt: 5 },
    },
    { [deviceId(1)]: deviceRow({ name: "phone" }) },
  );
  expect(listed).toEqual([
    { id: "fresh", createdAt: 2, expiresAt: null, viewers: [] },
    { id: "old", createdAt: 1, expiresAt: null, viewers: ["a device", "phone"] },
  ]);
});

it("names what a device may read, and nothing that was taken back", () => {
  const grant = { shareId: "link", createdAt: 1 };
  const grants = {
    [sessionId(1)]: { [deviceId(1)]: grant },
    [sessionId(2)]: {},
    [sessionId(3)]: { [deviceId(1)]: grant, [deviceId(2)]: grant },
  };
  const sessions = {
    [sessionId(1)]: sessionRow({ title: "One" }),
    [sessionId(2)]: sessionRow({ title: "Two" }),
  };
  expect(titlesGranted(deviceId(1), grants, sessions)).toEqual(["One"]);
});
