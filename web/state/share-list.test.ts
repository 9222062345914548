import { expect, it } from "vitest";
import { deviceId, deviceRow } from "../testing/rows.ts";
import { listShares } from "./share-list.ts";

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
