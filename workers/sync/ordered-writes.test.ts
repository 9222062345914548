import { expect, test } from "vitest";
import { flushPromises } from "../testing/fake-clock.ts";
import { OrderedWrites, writeWithRoom } from "./ordered-writes.ts";

const full = () => Promise.reject(new DOMException("It is full.", "QuotaExceededError"));

test("a write is tried again for as long as room can be made", async () => {
  let room = 0;
  const write = () => (room < 3 ? full() : Promise.resolve("stored"));
  const makeRoom = async () => ++room > 0;
  expect(await writeWithRoom(write, { makeRoom, otherwise: null })).toBe("stored");
  expect(room).toBe(3);
});

test("with nothing left that may go, what is to be done otherwise is done, or it fails as it did", async () => {
  const makeRoom = async () => false;
  await expect(writeWithRoom(full, { makeRoom, otherwise: null })).rejects.toThrow("It is full.");
  const otherwise = async () => "without bodies";
  expect(await writeWithRoom<string>(full, { makeRoom, otherwise })).toBe("without bodies");
});

test("what fails for another reason is not tried again", async () => {
  let tries = 0;
  const write = () => {
    tries++;
    return Promise.reject(new Error("broken"));
  };
  const makeRoom = async () => true;
  await expect(writeWithRoom(write, { makeRoom, otherwise: null })).rejects.toThrow("broken");
  expect(tries).toBe(1);
});

test("writes begin at once, and what was written after one that failed is written again", async () => {
  const writes = new OrderedWrites();
  const log: string[] = [];
  let isFull = true;
  let makeRoom = (_: boolean) => {};
  const room = {
    makeRoom: () => new Promise<boolean>((resolve) => (makeRoom = resolve)),
    otherwise: null,
  };
  const write = (name: string) => () => {
    log.push(name);
    return isFull ? full() : Promise.resolve(name);
  };
  const settled: string[] = [];
  for (const name of ["a", "b"]) {
    void writes.run(write(name), room).then((value) => settled.push(value));
  }
  expect(log).toEqual(["a", "b"]);
  await flushPromises();
  isFull = false;
  makeRoom(true);
  await flushPromises();
  expect(log).toEqual(["a", "b", "a", "b"]);
  expect(settled).toEqual(["a", "b"]);
});
