import { createRoot } from "solid-js";
import { describe, expect, it } from "vitest";
import type { CallId } from "../../shared/ids.ts";
import type { SessionRow } from "../../shared/protocol/rows.ts";
import type { ConnectionState } from "../../workers/client.ts";
import { makeFakeClient } from "../testing/fake-client.ts";
import {
  deviceChange,
  deviceId,
  deviceRow,
  outboxEntry,
  requestChange,
  requestRow,
  sessionChange,
  sessionId,
  sessionRow,
} from "../testing/rows.ts";
import { createWorkbench, type Workbench } from "./workbench.ts";

const ONE = sessionId(1);
const LIVE: ConnectionState = {
  kind: "live",
  deviceId: deviceId(1),
  role: "owner",
  daemonName: "studio",
  daemonVersion: "0.1.0",
  clockAheadMs: 0,
};

async function withWorkbench(
  work: (workbench: Workbench, fake: ReturnType<typeof makeFakeClient>) => void | Promise<void>,
) {
  const fake = makeFakeClient();
  const { workbench, dispose } = createRoot((end) => ({
    workbench: createWorkbench(fake.client),
    dispose: end,
  }));
  await work(workbench, fake);
  dispose();
}

/** Lets settled promises run their handlers. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe("createWorkbench", () => {
  it("holds what the sync worker says", () =>
    withWorkbench((workbench, { emit }) => {
      emit({ type: "rows", changes: [sessionChange(1, 1, sessionRow())], reset: true });
      emit({ type: "connection", state: LIVE, syncedAt: 5 });
      emit({
        type: "opened",
        sessionId: ONE,
        found: true,
        hasEarlier: true,
        isWhole: true,
        draft: "hm",
      });
      emit({
        type: "live",
        sessionId: ONE,
        event: { type: "session.doing", doing: "Reading" },
      });
      emit({
        type: "live",
        sessionId: ONE,
        event: { type: "tool.started", turnId: 4, callId: "c" as CallId },
      });
      expect(workbench.hasRows()).toBe(true);
      expect(workbench.sessions().map(({ id }) => id)).toEqual([ONE]);
      expect(workbench.connection()).toEqual(LIVE);
      expect(workbench.syncedAt()).toBe(5);
      expect(workbench.opened(ONE)).toEqual({
        found: true,
        hasEarlier: true,
        isWhole: true,
        draft: "hm",
      });
      expect(workbench.doing(ONE)).toBe("Reading");
      expect(workbench.isStarted(ONE, "4/c")).toBe(true);
    }));

  it("forgets what was being done when the connection is lost", () =>
    withWorkbench((workbench, { emit }) => {
      emit({ type: "live", sessionId: ONE, event: { type: "session.doing", doing: "Reading" } });
      emit({
        type: "connection",
        state: { kind: "offline", because: "closed", retryAt: 0 },
        syncedAt: null,
      });
      expect(workbench.doing(ONE)).toBeNull();
    }));

  it("announces the end of a request that ran here, and not one that was over before", () =>
    withWorkbench((workbench, { emit }) => {
      const rows = (...changes: Parameters<typeof requestChange>[]) =>
        emit({
          type: "rows",
          changes: changes.map((args) => requestChange(...args)),
          reset: false,
        });
      rows([1, 1, requestRow({ state: "done" })], [2, 2, requestRow({ state: "running" })]);
      expect(workbench.announcement().text).toBe("");
      rows([3, 2, requestRow({ state: "done" })]);
      expect(workbench.announcement().text).toBe("Answer finished.");
    }));

  it("announces the same words again as something of its own, so that they are said again", () =>
    withWorkbench((workbench) => {
      workbench.announce("Link copied.");
      const first = workbench.announcement();
      workbench.announce("Link copied.");
      expect(workbench.announcement()).toEqual(first);
      expect(workbench.announcement()).not.toBe(first);
    }));

  it("puts a refused command into words once, and lets them be dismissed", () =>
    withWorkbench(async (workbench, { commands }) => {
      workbench.run("session.undo", { sessionId: ONE });
      workbench.run("session.undo", { sessionId: ONE });
      for (const command of commands) command.fail("nothing_to_undo");
      await settled();
      const notices = workbench.notices();
      expect(notices).toMatchObject([{ text: { code: "nothing_to_undo" } }]);
      for (const { id } of notices) workbench.dismiss(id);
      expect(workbench.notices()).toEqual([]);
    }));

  it("knows a session it asked for until the daemon refuses it", () =>
    withWorkbench(async (workbench, { commands }) => {
      const id = workbench.run("session.create", { workingDir: "~" });
      expect(workbench.isMaking(id as typeof ONE)).toBe(true);
      commands[0]?.fail("folder_missing");
      await settled();
      expect(workbench.isMaking(id as typeof ONE)).toBe(false);
    }));

  it("lists a session without a break when the answer to its making comes before its row", () =>
    withWorkbench(async (workbench, { emit, commands }) => {
      const id = workbench.run("session.create", { workingDir: "~/code" });
      const entry = outboxEntry("session.create", { workingDir: "~/code" }, id);
      emit({ type: "outbox", entries: [entry] });
      commands[0]?.resolve({ sessionId: id });
      await settled();
      emit({ type: "outbox", entries: [] });
      expect(workbench.sessions()).toMatchObject([{ id, shownDir: "~/code", state: "waiting" }]);
      const arrives = (rev: number, row: SessionRow | null) => {
        const change = { rev, kind: "session", sessionId: id as typeof ONE, id, row } as const;
        emit({ type: "rows", changes: [change], reset: false });
      };
      arrives(1, sessionRow());
      expect(workbench.sessions()).toMatchObject([{ id, state: "idle" }]);
      arrives(2, null);
      expect(workbench.sessions()).toEqual([]);
    }));

  it("gives back what was typed here, rather than what the device kept before", () =>
    withWorkbench((workbench, { emit, calls }) => {
      emit({
        type: "opened",
        sessionId: ONE,
        found: true,
        hasEarlier: false,
        isWhole: true,
        draft: "kept",
      });
      expect(workbench.draft(ONE)).toBe("kept");
      workbench.saveDraft(ONE, "typed");
      emit({
        type: "opened",
        sessionId: ONE,
        found: true,
        hasEarlier: false,
        isWhole: true,
        draft: "kept",
      });
      expect(workbench.draft(ONE)).toBe("typed");
      expect(calls).toContainEqual(["saveDraft", ONE, "typed"]);
    }));

  it("hides a session from the moment it is deleted, and shows it again if that fails", () =>
    withWorkbench(async (workbench, { emit, commands }) => {
      emit({ type: "rows", changes: [sessionChange(1, 1, sessionRow())], reset: true });
      workbench.run("session.delete", { sessionId: ONE });
      expect(workbench.sessions()).toEqual([]);
      commands[0]?.fail("not_allowed");
      await settled();
      expect(workbench.sessions()).toHaveLength(1);
    }));

  it("names the other devices that look at a session, for as long as the connection lives", () =>
    withWorkbench((workbench, { emit }) => {
      const rows = [deviceChange(1, 2, deviceRow({ name: "phone" }))];
      emit({ type: "rows", changes: rows, reset: true });
      emit({ type: "connection", state: LIVE, syncedAt: 5 });
      const deviceIds = [deviceId(2), deviceId(3)];
      emit({ type: "live", sessionId: ONE, event: { type: "session.lookers", deviceIds } });
      expect(workbench.lookers(ONE)).toEqual(["phone", "another device"]);
      emit({ type: "connection", state: { kind: "connecting" }, syncedAt: 5 });
      expect(workbench.lookers(ONE)).toEqual([]);
      emit({ type: "connection", state: LIVE, syncedAt: 6 });
      workbench.close(ONE);
      expect(workbench.lookers(ONE)).toEqual([]);
    }));

  it("leaves a refused prompt to the outbox, where it stays, and makes no notice of it", () =>
    withWorkbench(async (workbench, { commands }) => {
      workbench.run("session.prompt", { sessionId: ONE, text: "x" });
      commands[0]?.fail("disk_failed");
      await settled();
      expect(workbench.notices()).toEqual([]);
    }));

  it("closes a session in the worker and drops its parts", () =>
    withWorkbench((workbench, { emit, calls }) => {
      workbench.open(ONE);
      emit({ type: "rows", changes: [requestChange(1, 1, requestRow())], reset: false });
      emit({
        type: "opened",
        sessionId: ONE,
        found: true,
        hasEarlier: false,
        isWhole: true,
        draft: "",
      });
      workbench.close(ONE);
      expect(calls).toEqual([
        ["open", ONE],
        ["close", ONE],
      ]);
      expect(workbench.opened(ONE)).toBeNull();
      expect(workbench.rows.request[ONE]).toBeUndefined();
    }));
});

describe("a clock that is wrong", () => {
  const HOUR_MS = 3_600_000;

  it("[R5] is left out of account in what is dated by it, also once the daemon is away", () =>
    withWorkbench((workbench, { emit }) => {
      emit({
        type: "connection",
        state: { ...LIVE, clockAheadMs: HOUR_MS },
        syncedAt: HOUR_MS + 5,
      });
      const waiting = outboxEntry("session.create", { workingDir: "~", title: "waiting" });
      emit({ type: "outbox", entries: [{ ...waiting, createdAt: HOUR_MS + 10 }] });
      const state = { kind: "offline", because: "closed", retryAt: 0 } as const;
      emit({ type: "connection", state, syncedAt: HOUR_MS + 5 });
      expect(workbench.syncedAt()).toBe(5);
      expect(workbench.sessions()).toMatchObject([{ title: "waiting", modifiedAt: 10 }]);
    }));
});

describe("who this browser is", () => {
  const rows = (...changes: ReturnType<typeof deviceChange>[]) =>
    ({ type: "rows", changes, reset: true }) as const;
  const viewer = deviceChange(1, 1, deviceRow({ role: "viewer" }));
  const OFFLINE = { kind: "offline", because: "closed", retryAt: 0 } as const;

  it("[F9] is known without the daemon: a viewer holds no device but itself", () =>
    withWorkbench((workbench, { emit }) => {
      expect(workbench.isViewer()).toBe(false);
      emit(rows(viewer));
      expect(workbench.isViewer()).toBe(true);
      emit(rows(viewer, deviceChange(2, 2, deviceRow())));
      expect(workbench.isViewer()).toBe(false);
    }));

  it("offers nothing that a viewer may not do before it is known", () =>
    withWorkbench((workbench, { emit }) => {
      emit(rows());
      expect(workbench.isViewer()).toBe(true);
      emit({ type: "connection", state: LIVE, syncedAt: 1 });
      expect(workbench.isViewer()).toBe(false);
    }));

  it("is what the daemon says, and stays so while rows are fetched anew", () =>
    withWorkbench((workbench, { emit }) => {
      emit(rows(deviceChange(1, 1, deviceRow())));
      emit({ type: "connection", state: LIVE, syncedAt: 1 });
      emit({ type: "connection", state: OFFLINE, syncedAt: 1 });
      emit(rows());
      expect(workbench.isViewer()).toBe(false);
      expect(workbench.daemonName()).toBe("studio");
    }));
});
