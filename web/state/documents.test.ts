import { createRoot, createSignal } from "solid-js";
import { describe, expect, it } from "vitest";
import type { BlobHash } from "../../shared/ids.ts";
import { Failure } from "../../shared/protocol/errors.ts";
import type { TextBody } from "../../shared/protocol/rows.ts";
import type { BlockPatch } from "../../workers/client.ts";
import { makeFakeClient } from "../testing/fake-client.ts";
import { body, sessionId } from "../testing/rows.ts";
import { showPart } from "./documents.ts";

const KEY = `${sessionId(1)}/4/answer`;
const LONG: TextBody = { head: "begin", size: 99_999, blob: "ab" as BlobHash };
const NO_CONNECTION = new Failure("not_connected", "no connection", { retryable: true });
const settled = () => new Promise((resolve) => setImmediate(resolve));

function show(initial: TextBody | null, text?: (body: TextBody) => Promise<string>) {
  const fake = makeFakeClient();
  const client = { ...fake.client, ...(text && { text }) };
  const [shownBody, setBody] = createSignal(initial);
  const [isOnline, setIsOnline] = createSignal(true);
  const patches: BlockPatch[] = [];
  const missing: unknown[] = [];
  const { hide, dispose } = createRoot((end) => ({
    dispose: end,
    hide: showPart(
      client,
      {
        sessionId: sessionId(1),
        turnId: 4,
        part: "answer",
        body: shownBody,
        isOnline,
        onMissing: (error) => missing.push(error),
      },
      (patch) => patches.push(patch),
    ),
  }));
  return { ...fake, setBody, setIsOnline, patches, missing, hide, dispose };
}

describe("showPart", () => {
  it("paints what streams and settles nothing before the row does", async () => {
    const { patch, patches, calls, dispose } = show(null);
    patch({ key: KEY, from: 0, html: ["<p>a</p>"], open: true });
    await settled();
    expect(patches).toHaveLength(1);
    expect(calls).toEqual([]);
    dispose();
  });

  it("[F1] gives the row's text the last word once the row holds it", async () => {
    const { calls, setBody, dispose } = show(null);
    setBody(body("the whole answer"));
    await settled();
    expect(calls).toEqual([["settle", KEY, "the whole answer"]]);
    dispose();
  });

  it("shows the beginning of a text that is not here, and the rest once there is a connection", async () => {
    let isThere = false;
    const { calls, missing, setIsOnline, dispose } = show(LONG, async () => {
      if (!isThere) throw NO_CONNECTION;
      return "begin and end";
    });
    setIsOnline(false);
    await settled();
    expect(calls.at(-1)).toEqual(["settle", KEY, "begin"]);
    expect(missing.at(-1)).toBe(NO_CONNECTION);
    isThere = true;
    setIsOnline(true);
    await settled();
    expect(calls.at(-1)).toEqual(["settle", KEY, "begin and end"]);
    expect(missing.at(-1)).toBeNull();
    dispose();
  });

  it("settles nothing that is no longer shown", async () => {
    const { calls, hide, dispose } = show(body("x"));
    hide();
    await settled();
    expect(calls).toEqual([]);
    dispose();
  });
});
