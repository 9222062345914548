import { expect, test } from "vitest";
import { MemoryReplica } from "../testing/memory-replica.ts";
import { Pairing } from "./pairing.ts";

const LAUNCH = { kind: "launch", secret: "secret" } as const;
const SHARE = { kind: "share", secret: "secret" } as const;
const error = (code: "enrolment_invalid" | "share_full" | "version_mismatch") => ({
  code,
  message: "The test refused it",
  retryable: false,
});

test("[H2] a link that shares a session never makes another daemon the known one", async () => {
  const replica = new MemoryReplica();
  const pairing = new Pairing(replica);
  await replica.pinDaemon(new Uint8Array(32));
  expect(await pairing.answersTo("other key")).toBe(false);
  pairing.give(SHARE);
  expect(await pairing.answersTo("other key")).toBe(false);
  expect(pairing.enrolment).toBeNull();
  pairing.give(LAUNCH);
  expect(await pairing.answersTo("other key")).toBe(true);
  expect(await replica.pinnedDaemon()).toBeNull();
});

test.each(["enrolment_invalid", "share_full"] as const)(
  "a secret refused with %s is not brought again: who is known gets in without",
  (code) => {
    const pairing = new Pairing(new MemoryReplica());
    pairing.give(SHARE);
    pairing.refused(error(code));
    expect(pairing.enrolment).toBeNull();
  },
);

test("a secret outlives a refusal that is not about it", () => {
  const pairing = new Pairing(new MemoryReplica());
  pairing.give(LAUNCH);
  pairing.refused(error("version_mismatch"));
  expect(pairing.enrolment).toEqual(LAUNCH);
});
