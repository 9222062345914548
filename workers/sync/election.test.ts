import { beforeEach, expect, test } from "vitest";
import { FakeBrowser, type FakeScope } from "../testing/fake-browser.ts";
import { flushPromises } from "../testing/fake-clock.ts";
import { Election } from "./election.ts";

interface Candidate {
  readonly scope: FakeScope;
  readonly election: Election;
  readonly fate: string[];
}

let browser: FakeBrowser;
beforeEach(() => {
  browser = new FakeBrowser();
});

function candidate(life: string): Candidate {
  const scope = browser.scope();
  void scope.locks.request(life, {}, () => new Promise(() => {}));
  const fate: string[] = [];
  const election = new Election({
    locks: scope.locks,
    lock: "lead",
    life,
    elected: () => void fate.push("elected"),
    robbed: () => void fate.push("robbed"),
    report: (error) => void fate.push(String(error)),
  });
  return { scope, election, fate };
}

test("the first to stand leads, and the next once it has ended", async () => {
  const [first, second] = [candidate("first"), candidate("second")];
  first.election.stand();
  second.election.stand();
  await flushPromises();
  expect([first.fate, second.fate]).toEqual([["elected"], []]);
  first.scope.end();
  await flushPromises();
  expect(second.fate).toEqual(["elected"]);
});

test("one that is robbed hears of it, and asked before it does, it does not claim the lead", async () => {
  const [first, second] = [candidate("first"), candidate("second")];
  first.election.stand();
  second.election.stand();
  await flushPromises();
  expect(await first.election.isHolder()).toBe(true);
  second.election.seize();
  const isHolder = first.election.isHolder();
  expect(first.fate).toEqual(["elected"]);
  expect(await isHolder).toBe(false);
  await flushPromises();
  expect([first.fate, second.fate]).toEqual([["elected", "robbed"], ["elected"]]);
  expect(await second.election.isHolder()).toBe(true);
});

test("one that leads does not rob itself", async () => {
  const first = candidate("first");
  first.election.stand();
  await flushPromises();
  first.election.seize();
  await flushPromises();
  expect(first.fate).toEqual(["elected"]);
});

test("a browser that refuses the lock is reported", async () => {
  const fate: unknown[] = [];
  const refused = new Error("refused");
  new Election({
    locks: { request: () => Promise.reject(refused), query: async () => ({}) },
    lock: "lead",
    life: "first",
    elected: () => void fate.push("elected"),
    robbed: () => void fate.push("robbed"),
    report: (error) => void fate.push(error),
  }).stand();
  await flushPromises();
  expect(fate).toEqual([refused]);
});
