// What is the device's own in IndexedDB, never dropped with the rows: outbox, drafts,
// choices, key and pinned daemon.

import * as z from "zod/mini";
import { type CommandId, ID_PATTERN } from "../../shared/ids.ts";
import { branded } from "../../shared/protocol/branded.ts";
import { wireErrorSchema } from "../../shared/protocol/errors.ts";
import { type CommandMethod, isMethod, methods } from "../../shared/protocol/methods.ts";
import { ask, write } from "./indexed-database.ts";
import type { Choices, Drafts, Keyring, OutboxStore } from "./replica.ts";

const commandFields = {
  commandId: branded<CommandId>(ID_PATTERN),
  method: z.custom<CommandMethod>(
    (name) => typeof name === "string" && isMethod(name) && methods[name].kind === "command",
  ),
  params: z.unknown(),
  createdAt: z.int(),
};
const outboxEntrySchema = z.discriminatedUnion("state", [
  z.object({ ...commandFields, state: z.enum(["waiting", "sent"]) }),
  z.object({ ...commandFields, state: z.literal("refused"), error: wireErrorSchema }),
]);

export function outboxIn(db: IDBDatabase): OutboxStore {
  /** Gives `work` the entry's key, if it is there. */
  const withEntry = <T>(
    commandId: CommandId,
    missing: T,
    work: (store: IDBObjectStore, key: number) => T | Promise<T>,
  ): Promise<T> =>
    write(db, ["outbox"], async (tx) => {
      const store = tx.objectStore("outbox");
      const key = await ask(store.index("commandId").getKey(commandId));
      return typeof key === "number" ? work(store, key) : missing;
    });
  const entryAt = async (store: IDBObjectStore, key: number) =>
    outboxEntrySchema.parse(await ask(store.get(key)));
  return {
    async outbox() {
      const found = await ask(db.transaction("outbox").objectStore("outbox").getAll());
      return z
        .array(z.unknown())
        .parse(found)
        .flatMap((entry) => {
          // One that cannot be read must not hold up the others, which people wrote.
          const parsed = outboxEntrySchema.safeParse(entry);
          return parsed.success ? [parsed.data] : [];
        });
    },
    putOutbox: (entry) =>
      write(db, ["outbox"], async (tx) => {
        const store = tx.objectStore("outbox");
        const key = await ask(store.index("commandId").getKey(entry.commandId));
        if (typeof key === "number") store.put(entry, key);
        else store.put(entry);
      }),
    claimOutbox: (commandId) =>
      withEntry(commandId, null, async (store, key) => {
        const entry = await entryAt(store, key);
        if (entry.state === "refused") return null;
        const claimed = { ...entry, state: "sent" } as const;
        store.put(claimed, key);
        return claimed;
      }),
    amendOutbox: (commandId, params) =>
      withEntry(commandId, false, async (store, key) => {
        const entry = await entryAt(store, key);
        if (entry.state !== "waiting") return false;
        store.put({ ...entry, params }, key);
        return true;
      }),
    withdrawOutbox: (commandId) =>
      withEntry(commandId, false, async (store, key) => {
        if ((await entryAt(store, key)).state === "sent") return false;
        store.delete(key);
        return true;
      }),
    removeOutbox: (commandId) =>
      withEntry(commandId, undefined, (store, key) => {
        store.delete(key);
      }),
  };
}

export function draftsIn(db: IDBDatabase): Drafts {
  return {
    async draft(sessionId) {
      const found = await ask(db.transaction("drafts").objectStore("drafts").get(sessionId));
      return typeof found === "string" ? found : "";
    },
    saveDraft: (sessionId, text) =>
      write(db, ["drafts"], (tx) => {
        const store = tx.objectStore("drafts");
        if (text === "") store.delete(sessionId);
        else store.put(text, sessionId);
      }),
  };
}

export function choicesIn(db: IDBDatabase): Choices {
  return {
    async keepDays() {
      const found = await ask(db.transaction("choices").objectStore("choices").get("keepDays"));
      return typeof found === "number" ? found : null;
    },
    chooseKeepDays: (days) =>
      write(db, ["choices"], (tx) => {
        tx.objectStore("choices").put(days, "keepDays");
      }),
  };
}

export function keyringIn(db: IDBDatabase): Keyring {
  const stored = (key: string): Promise<unknown> =>
    ask(db.transaction("identity").objectStore("identity").get(key));
  const bytesOrNull = async (asked: Promise<unknown>): Promise<Uint8Array | null> => {
    const found = await asked;
    return found instanceof Uint8Array ? found : null;
  };
  return {
    deviceKeys: (make) =>
      write(db, ["identity"], async (tx) => {
        const store = tx.objectStore("identity");
        const privateKey = await bytesOrNull(ask(store.get("privateKey")));
        const publicKey = await bytesOrNull(ask(store.get("publicKey")));
        if (privateKey !== null && publicKey !== null) return { privateKey, publicKey };
        const made = make();
        store.put(made.privateKey, "privateKey");
        store.put(made.publicKey, "publicKey");
        return made;
      }),
    pinnedDaemon: () => bytesOrNull(stored("daemon")),
    pinDaemon: (publicKey) =>
      write(db, ["identity"], async (tx) => {
        const store = tx.objectStore("identity");
        store.delete("offered");
        const pinned = await bytesOrNull(ask(store.get("daemon")));
        if (publicKey === null) store.delete("daemon");
        // A connection is not to fail for want of room for what is there already.
        else if (pinned?.join() !== publicKey.join()) store.put(publicKey, "daemon");
      }),
    async offeredDaemon() {
      const found = await stored("offered");
      return typeof found === "string" ? found : null;
    },
    noteOffered: (fingerprint) =>
      write(db, ["identity"], (tx) => {
        tx.objectStore("identity").put(fingerprint, "offered");
      }),
  };
}
