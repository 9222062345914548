import { expect, test } from "vitest";
import { sessionIdOf } from "../testing/rows.ts";
import { makeBytes } from "../testing/workbench.ts";
import type { PageMessage } from "./port.ts";
import { SyncProxy } from "./proxy.ts";

const makeEnd = () => {
  const posted: PageMessage[] = [];
  return { posted, postMessage: (message: PageMessage) => void posted.push(message) };
};

test("[F5] what a dead worker left unanswered is asked again of the one that replaced it, under the same ids", async () => {
  const dead = makeEnd();
  const sync = new SyncProxy(dead, makeBytes(5), () => {});
  const models = sync.query("model.list", {});
  const settled = sync.command("session.pin", { sessionId: sessionIdOf("one"), pinned: true });
  const left = sync.command("session.pin", { sessionId: sessionIdOf("two"), pinned: true });
  sync.receive({ type: "value", id: 2, value: {} });
  await settled.answer;

  const successor = makeEnd();
  sync.replace(successor);
  sync.askAgain();
  expect(successor.posted).toEqual([dead.posted[0], dead.posted[2]]);
  expect(successor.posted[1]).toMatchObject({ commandId: left.commandId });
  sync.receive({ type: "value", id: 1, value: { models: [], preferred: "builtin/guide" } });
  expect(await models).toMatchObject({ preferred: "builtin/guide" });
});

test("a worker's lock is not the page's affair", () => {
  const locks: string[] = [];
  const sync = new SyncProxy(makeEnd(), makeBytes(5), (lock) => void locks.push(lock));
  const heard: unknown[] = [];
  sync.listen((event) => heard.push(event));
  sync.receive({ type: "alive", lock: "worker 1" });
  expect(locks).toEqual(["worker 1"]);
  expect(heard).toEqual([]);
});
