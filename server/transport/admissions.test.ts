import { setImmediate as flushPromises } from "node:timers/promises";
import { expect, test } from "vitest";
import { encode } from "../../shared/protocol/codec.ts";
import type { Admission, Introduction } from "../../shared/protocol/handshake.ts";
import { silentLog } from "../testing/silent-log.ts";
import { Admissions } from "./admissions.ts";

const introduction: Introduction = {
  versions: [1],
  appVersion: "0",
  deviceName: "Test",
  enrolment: null,
};
const refused: Admission = {
  outcome: "refused",
  error: { code: "not_enrolled", message: "Who are you?", retryable: false },
};

test("closing waits for what is being decided, which may still need the store", async () => {
  let decide = (_admission: Admission) => {};
  const admissions = new Admissions({
    admit: () =>
      new Promise((resolve) => {
        decide = resolve;
      }),
    daemonVersion: "0",
    connectionsMax: 1,
    log: silentLog,
  });
  let isClosed = false;
  const decided = admissions.decide(new Uint8Array(32), encode(introduction));
  const closed = admissions.close().then(() => {
    isClosed = true;
  });
  await flushPromises();
  expect(isClosed).toBe(false);
  decide(refused);
  expect(await decided).toBe(refused);
  await closed;
  await admissions.close();
});
