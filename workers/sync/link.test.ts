import { deflateRawSync } from "node:zlib";
import { expect, test } from "vitest";
import { nobleCrypto } from "../../shared/noise/noble-crypto.ts";
import { makeKeyPair } from "../../shared/noise/noise-crypto.ts";
import { encode } from "../../shared/protocol/codec.ts";
import type { DaemonMessage } from "../../shared/protocol/messages.ts";
import { FakeClock, flushPromises } from "../testing/fake-clock.ts";
import { FakeDaemon } from "../testing/fake-daemon.ts";
import { LinkedNetwork } from "../testing/linked-network.ts";
import { sessionIdOf } from "../testing/rows.ts";
import { unpackAtOnce } from "../testing/unpack-at-once.ts";
import { makeBytes } from "../testing/workbench.ts";
import { Link, type LinkEnd, type PlainMessage } from "./link.ts";
import type { Unpack } from "./unpack.ts";

const one = sessionIdOf("one");
const doing = (words: string): DaemonMessage => ({
  type: "live",
  sessionId: one,
  event: { type: "session.doing", doing: words },
});

function packed(message: DaemonMessage, changes: object = {}): DaemonMessage {
  const bytes = encode(message);
  const deflated = new Uint8Array(deflateRawSync(bytes));
  const whole = { type: "packed", packing: "deflate-raw", size: bytes.length } as const;
  return { ...whole, bytes: deflated, ...changes };
}

/** A link that has been admitted and greeted; `unpack` waits until the test lets it. */
async function openLink(unpack: Unpack | null = unpackAtOnce) {
  const clock = new FakeClock();
  const daemon = new FakeDaemon(makeBytes(3));
  const network = new LinkedNetwork((send, close) => daemon.accept(send, close));
  const told: PlainMessage[] = [];
  const ends: LinkEnd[] = [];
  const randomBytes = makeBytes(5);
  const link = new Link(
    {
      openSocket: network.openSocket,
      fetchIdentity: async () => daemon.identity(),
      crypto: nobleCrypto,
      randomBytes,
      clock,
      unpack,
    },
    {
      deviceKeys: makeKeyPair(nobleCrypto, randomBytes),
      pinned: null,
      introduction: { versions: [1], appVersion: "0", deviceName: "A test", enrolment: null },
    },
    {
      handshaking: () => {},
      admitted: () => {
        const scope = { days: null, except: [] };
        const hello = { type: "hello", epoch: null, cursor: 0, token: null, scope } as const;
        link.send({ ...hello, packings: link.packings });
      },
      message: (message) => told.push(message),
      ended: (end) => ends.push(end),
    },
  );
  await network.deliver();
  told.length = 0;
  const said = () =>
    told.map((message) =>
      message.type === "live" && message.event.type === "session.doing"
        ? message.event.doing
        : message.type,
    );
  return { clock, daemon, network, link, ends, said };
}

/** Unpacking ends when the test says so, in any order. */
function makeSlowUnpack() {
  const waiting: (() => void)[] = [];
  const unpack: Unpack = async (bytes, size) => {
    await new Promise<void>((resolve) => waiting.push(resolve));
    return unpackAtOnce(bytes, size);
  };
  return { unpack, waiting };
}

test("a packed message is handed on like any other", async () => {
  const { daemon, network, said, ends } = await openLink();
  daemon.say(packed(doing("packed")));
  await network.deliver();
  expect([said(), ends]).toEqual([["packed"], []]);
});

test("[F6] [K2] nothing that came after a packed message is handed on before it", async () => {
  const { unpack, waiting } = makeSlowUnpack();
  const { daemon, network, said } = await openLink(unpack);
  daemon.say(doing("1"));
  daemon.say(packed(doing("2")));
  daemon.say(doing("3"));
  daemon.say(packed(doing("4")));
  daemon.say({ type: "beat" });
  await network.deliver();
  expect(said()).toEqual(["1"]);
  waiting.shift()?.();
  await network.deliver();
  expect(said()).toEqual(["1", "2", "3"]);
  daemon.say(doing("5"));
  await network.deliver();
  waiting.shift()?.();
  await flushPromises();
  expect(said()).toEqual(["1", "2", "3", "4", "beat", "5"]);
});

test("one message is unpacked at a time, so that many bombs take no more memory than one", async () => {
  const { unpack, waiting } = makeSlowUnpack();
  const { daemon, network } = await openLink(unpack);
  for (let count = 0; count < 5; count++) daemon.say(packed(doing("more")));
  await network.deliver();
  expect(waiting).toHaveLength(1);
});

test("[F6] the end of a socket waits for what came before it", async () => {
  const { unpack, waiting } = makeSlowUnpack();
  const { daemon, network, said, ends } = await openLink(unpack);
  daemon.say(packed(doing("last words")));
  daemon.say({ type: "shuttingDown" });
  network.close();
  await network.deliver();
  expect([said(), ends]).toEqual([[], []]);
  waiting.shift()?.();
  await flushPromises();
  expect(said()).toEqual(["last words", "shuttingDown"]);
  expect(ends).toEqual([{ kind: "lost", because: "closed" }]);
});

test("what waits to be unpacked when a link is closed from here is void", async () => {
  const { unpack, waiting } = makeSlowUnpack();
  const { daemon, network, link, said, ends } = await openLink(unpack);
  daemon.say(packed(doing("too late")));
  daemon.say(doing("too late as well"));
  await network.deliver();
  link.close();
  waiting.shift()?.();
  await flushPromises();
  expect([said(), ends]).toEqual([[], []]);
});

test("[L1] bytes count as heard when they come, not when they are unpacked", async () => {
  const { unpack } = makeSlowUnpack();
  const { daemon, network, link, clock } = await openLink(unpack);
  daemon.say(packed(doing("1")));
  await network.deliver();
  await clock.advance(5_000);
  daemon.say(packed(doing("2")));
  await network.deliver();
  expect(link.lastHeardAt).toBe(clock.now());
});

test("a link says which packings it can read: none where the browser has no means", async () => {
  expect((await openLink()).link.packings).toEqual(["deflate-raw"]);
  expect((await openLink(null)).link.packings).toEqual([]);
});

test.each([
  ["that is larger than it says", packed(doing("a bomb"), { size: 3 })],
  ["that is smaller than it says", packed(doing("short"), { size: 4_000 })],
  ["that is damaged", packed(doing("cut"), { bytes: new Uint8Array([7, 7, 7]) })],
  ["that holds a packed one", packed(packed(doing("nested")))],
])("[K1] a packed message %s ends the connection", async (_, message) => {
  const { daemon, network, said, ends } = await openLink();
  daemon.say(message);
  daemon.say(doing("after it"));
  await network.deliver();
  expect(said()).toEqual([]);
  expect(ends).toEqual([{ kind: "lost", because: "closed" }]);
});

test("[K1] a packed message that nobody asked for ends the connection", async () => {
  const { daemon, network, ends } = await openLink(null);
  daemon.say(packed(doing("unasked")));
  await network.deliver();
  expect(ends).toEqual([{ kind: "lost", because: "closed" }]);
});
