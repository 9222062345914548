import { expect, test } from "vitest";
import type { CommandId } from "../../shared/ids.ts";
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
  const sync = new SyncProxy(dead, makeBytes(5), { alive() {}, succeeded() {} });
  const models = sync.query("model.list", {});
  const settled = sync.command("session.pin", { sessionId: sessionIdOf("one"), pinned: true });
  const left = sync.command("session.pin", { sessionId: sessionIdOf("two"), pinned: true });
  sync.receive({ type: "value", id: 2, value: {} });
  await settled.answer;

  const successor = makeEnd();
  sync.replace(successor);
  sync.askAgain();
  expect(successor.posted).toEqual([dead.posted[0], { ...dead.posted[2], isAgain: true }]);
  expect(successor.posted[1]).toMatchObject({ commandId: left.commandId });
  sync.receive({ type: "value", id: 1, value: { models: [], preferred: "builtin/guide" } });
  expect(await models).toMatchObject({ preferred: "builtin/guide" });
});

test("[F5] what any page withdrew is not asked again, and what one amended is asked as it is now", () => {
  const sync = new SyncProxy(makeEnd(), makeBytes(5), { alive() {}, succeeded() {} });
  const sessionId = sessionIdOf("one");
  const withdrawn = sync.command("session.prompt", { sessionId, text: "never" });
  const amended = sync.command("session.prompt", { sessionId, text: "helo" });
  const params = { sessionId, text: "hello" };
  const commandId = amended.commandId as CommandId;
  const entry = {
    commandId,
    method: "session.prompt",
    params,
    state: "waiting",
    createdAt: 0,
  } as const;
  sync.receive({ type: "outbox", entries: [entry] });
  sync.receive({ type: "withdrawn", commandId: withdrawn.commandId as CommandId });
  const successor = makeEnd();
  sync.replace(successor);
  sync.askAgain();
  expect(successor.posted).toMatchObject([{ commandId: amended.commandId, params }]);
});

test("a worker's lock is not the page's affair", () => {
  const locks: string[] = [];
  const sync = new SyncProxy(makeEnd(), makeBytes(5), {
    alive: (lock) => void locks.push(lock),
    succeeded() {},
  });
  const heard: unknown[] = [];
  sync.listen((event) => heard.push(event));
  sync.receive({ type: "alive", lock: "worker 1" });
  expect(locks).toEqual(["worker 1"]);
  expect(heard).toEqual([]);
});

test("that another engine has taken over is told to whoever attaches, not to the listener", () => {
  let count = 0;
  const fate = { alive() {}, succeeded: () => void count++ };
  const sync = new SyncProxy(makeEnd(), makeBytes(5), fate);
  const heard: unknown[] = [];
  sync.listen((event) => heard.push(event));
  sync.receive({ type: "successor" });
  expect(count).toBe(1);
  expect(heard).toEqual([]);
});
