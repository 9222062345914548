import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { BlobHash, DeviceId, SessionId } from "../../shared/ids.ts";
import { BLOB_CHUNK_MAX_BYTES } from "../../shared/limits.ts";
import { Failure } from "../../shared/protocol/errors.ts";
import { methods } from "../../shared/protocol/methods.ts";
import { freshCommandId, makeSessionBench, OWNER } from "../testing/session-bench.ts";
import type { Peer } from "../transport/connection.ts";

const DEVICE = "viewer-device-001" as DeviceId;

const failureOf = async (outcome: Promise<unknown>): Promise<Failure["wire"] | null> => {
  try {
    await outcome;
    return null;
  } catch (error) {
    if (error instanceof Failure) return error.wire;
    throw error;
  }
};

describe("a call", () => {
  test("[M2] of an unknown method is said to be one, names inherited from Object too", async () => {
    const { dispatch } = await makeSessionBench();
    for (const method of ["session.dance", "", "constructor", "__proto__", "x".repeat(10_000)]) {
      const failure = await failureOf(dispatch(OWNER, { method, params: {}, commandId: null }));
      expect(failure?.code).toBe("unknown_method");
      expect(failure?.message.length).toBeLessThan(200);
    }
  });

  test("[M2] with params of the wrong shape names the field, never the value", async () => {
    const { dispatch } = await makeSessionBench();
    const call = (method: string, params: unknown, commandId: string | null = freshCommandId()) =>
      failureOf(dispatch(OWNER, { method, params, commandId }));
    expect(await call("session.create", {})).toMatchObject({
      code: "bad_params",
      details: { field: "workingDir" },
    });
    const wrong = await call("session.rename", { sessionId: "nope", title: "secret" });
    expect(wrong).toMatchObject({ code: "bad_params", details: { field: "sessionId" } });
    expect(wrong?.message).not.toContain("secret");
    for (const params of [null, 7, "x", [], { sessionId: {} }]) {
      expect((await call("session.pin", params))?.code).toBe("bad_params");
    }
    expect(await call("session.create", { workingDir: "/" }, null)).toMatchObject({
      code: "bad_params",
      details: { field: "commandId" },
    });
    expect((await call("session.create", { workingDir: "/" }, "too short"))?.code).toBe(
      "bad_params",
    );
  });

  test("is refused to those who may not make it", async () => {
    const { dispatch } = await makeSessionBench();
    const peer = (role: "viewer" | "guest"): Peer => ({ kind: "device", deviceId: DEVICE, role });
    const call = (from: Peer, method: string) =>
      failureOf(dispatch(from, { method, params: {}, commandId: null }));
    for (const method of Object.keys(methods)) {
      const asViewer = await call(peer("viewer"), method);
      expect(asViewer?.code, method).toBe(method === "blob.read" ? "bad_params" : "not_allowed");
      expect((await call(peer("guest"), method))?.code, method).toBe("not_allowed");
    }
    const refusal = await call(peer("viewer"), "session.prompt");
    expect(refusal?.message).toContain("viewer may not call session.prompt");
    expect((await call(OWNER, "daemon.link"))?.code).toBe("not_allowed");
    expect((await call(OWNER, "daemon.status"))?.code).toBe("not_allowed");
    expect(await call({ kind: "local" }, "daemon.link")).toBeNull();
    expect(await call(OWNER, "model.list")).toBeNull();
  });
});

describe("a command", () => {
  test("[F5] sent twice acts once and answers the same", async () => {
    const bench = await makeSessionBench();
    const sessionId = await bench.newSession();
    const commandId = freshCommandId();
    const first = await bench.send("session.prompt", { sessionId, text: "Go" }, commandId);
    const again = await bench.send("session.prompt", { sessionId, text: "Go" }, commandId);
    expect(again).toEqual(first);
    expect(await bench.store.rows("request", sessionId)).toHaveLength(1);
  });

  test("[F5] sent at the same moment over two connections acts once and answers both", async () => {
    const bench = await makeSessionBench();
    const commandId = freshCommandId();
    const params = { workingDir: bench.folder };
    const answers = await Promise.all([
      bench.dispatch(OWNER, { method: "session.create", params, commandId }),
      bench.dispatch({ kind: "local" }, { method: "session.create", params, commandId }),
    ]);
    expect(answers[0]).toEqual(answers[1]);
    expect(await bench.store.rows("session")).toHaveLength(1);
  });

  test("[F5] whose id was used for something else is a conflict, while that runs and after", async () => {
    const bench = await makeSessionBench();
    const sessionId = await bench.newSession();
    const commandId = freshCommandId();
    const running = bench.send("session.rename", { sessionId, title: "One" }, commandId);
    const rename = (title: string) =>
      failureOf(bench.send("session.rename", { sessionId, title }, commandId));
    expect((await rename("Two"))?.code).toBe("command_conflict");
    await running;
    expect((await rename("Two"))?.code).toBe("command_conflict");
    expect(
      (await failureOf(bench.send("session.pin", { sessionId, pinned: true }, commandId)))?.code,
    ).toBe("command_conflict");
    expect(await rename("One")).toBeNull();
    expect((await bench.store.row("session", sessionId, sessionId))?.row.title).toBe("One");
  });

  test("[F5] a field nobody knows makes no other command of it", async () => {
    const bench = await makeSessionBench();
    const sessionId = await bench.newSession();
    const commandId = freshCommandId();
    const call = (params: unknown) =>
      bench.dispatch(OWNER, { method: "session.pin", params, commandId });
    await call({ sessionId, pinned: true });
    expect(await failureOf(call({ later: 1, pinned: true, sessionId }))).toBeNull();
  });

  test("[F5] that failed does not act when a copy of it comes late; a fresh one may", async () => {
    const bench = await makeSessionBench();
    const commandId = freshCommandId();
    const workingDir = join(bench.folder, "later");
    const create = (id?: string) => bench.send("session.create", { workingDir }, id);
    expect((await failureOf(create(commandId)))?.code).toBe("folder_missing");
    await mkdir(workingDir);
    expect((await failureOf(create(commandId)))?.code).toBe("folder_missing");
    expect(await bench.store.rows("session")).toEqual([]);
    await create();
    expect(await bench.store.rows("session")).toHaveLength(1);
  });

  test("[F5] that the daemon refused because it stops is not remembered", async () => {
    const bench = await makeSessionBench();
    const sessionId = await bench.newSession();
    await bench.sessions.close();
    const commandId = freshCommandId();
    const prompt = { sessionId, text: "Hello" };
    const send = (on: typeof bench) => failureOf(on.send("session.prompt", prompt, commandId));
    expect((await send(bench))?.code).toBe("shutting_down");
    const { store, clock, storePath: path } = bench;
    expect(await send(await makeSessionBench({ on: { store, clock, path } }))).toBeNull();
  });
});

describe("folder.describe", () => {
  const describeFolder = async (
    bench: Awaited<ReturnType<typeof makeSessionBench>>,
    path?: string,
  ) =>
    bench.dispatch(OWNER, {
      method: "folder.describe",
      params: path === undefined ? {} : { path },
      commandId: null,
    });

  test("[R4] tells path, branch, folders and files, leaving out ignored ones", async () => {
    const bench = await makeSessionBench();
    const { folder } = bench;
    for (const name of ["b", "a", "node_modules", ".git"]) await mkdir(join(folder, name));
    await writeFile(join(folder, ".git", "HEAD"), "ref: refs/heads/main\n");
    await writeFile(join(folder, ".gitignore"), "node_modules\n");
    await writeFile(join(folder, "a", "one.ts"), "1");
    await writeFile(join(folder, "node_modules", "two.js"), "2");
    expect(await describeFolder(bench, "~")).toEqual({
      path: folder,
      shown: "~",
      branch: "main",
      fileCount: 2,
      folders: [".git", "a", "b", "node_modules"],
      foldersLeftOut: 0,
    });
    expect(await describeFolder(bench)).toMatchObject({ shown: "~" });
    expect(await describeFolder(bench, "~/a")).toMatchObject({ shown: "~/a", branch: "main" });
  });

  test("follows the file that stands for `.git` in a worktree", async () => {
    const bench = await makeSessionBench();
    const { folder } = bench;
    await mkdir(join(folder, "real", "worktrees", "w"), { recursive: true });
    await writeFile(join(folder, "real", "worktrees", "w", "HEAD"), `${"a1".repeat(20)}\n`);
    await mkdir(join(folder, "w"));
    await writeFile(join(folder, "w", ".git"), "gitdir: ../real/worktrees/w\n");
    expect(await describeFolder(bench, join(folder, "w"))).toMatchObject({ branch: "a1a1a1a1a1" });
  });

  test("says what is wrong with a folder, by its path", async () => {
    const bench = await makeSessionBench();
    const failure = await failureOf(describeFolder(bench, "/no/such"));
    expect(failure).toMatchObject({ code: "folder_missing", details: { path: "/no/such" } });
    expect(failure?.message).toContain("/no/such");
  });
});

describe("blob.read", () => {
  const withLongPrompt = async () => {
    const bench = await makeSessionBench();
    const sessionId = await bench.newSession();
    const text = "0123456789".repeat(50_000);
    const { requestId } = await bench.send("session.prompt", { sessionId, text });
    const hash = (await bench.request(sessionId, requestId)).text.blob;
    const read = (offset: number, peer: Peer = OWNER, of = hash) =>
      bench.dispatch(peer, { method: "blob.read", params: { hash: of, offset }, commandId: null });
    return { ...bench, sessionId, text, read };
  };

  test("[R2] gives a long text piece by piece, and says when it is gone", async () => {
    const { send, sessionId, text, read } = await withLongPrompt();
    expect(await read(0)).toMatchObject({ size: 500_000 });
    expect(await read(BLOB_CHUNK_MAX_BYTES)).toMatchObject({
      bytes: new Uint8Array(Buffer.from(text.slice(BLOB_CHUNK_MAX_BYTES))),
    });
    await send("session.delete", { sessionId });
    expect((await failureOf(read(0)))?.code).toBe("blob_gone");
  });

  test("[F9] gives a viewer what its sessions refer to; all else is as if it were not there", async () => {
    const { store, sessionId, newSession, read } = await withLongPrompt();
    const viewer: Peer = { kind: "device", deviceId: DEVICE, role: "viewer" };
    const grant = (to: SessionId) =>
      store.write((tx) => tx.put("grant", to, DEVICE, { shareId: "share", createdAt: 1 }));
    const refusals: unknown[] = [];
    const refuses = async () => refusals.push(await failureOf(read(0, viewer)));
    await refuses();
    await grant(await newSession());
    await refuses();
    await grant(sessionId);
    expect(await read(0, viewer)).toMatchObject({ size: 500_000 });
    await store.write((tx) => tx.remove("grant", sessionId, DEVICE));
    await refuses();
    const missing = await failureOf(read(0, viewer, "0".repeat(64) as BlobHash));
    expect(missing?.code).toBe("blob_gone");
    for (const refusal of refusals) {
      expect(refusal).toEqual({ ...missing, details: { hash: expect.any(String) } });
    }
  });
});
