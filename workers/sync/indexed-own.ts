// What is the device's own in IndexedDB, never dropped with the rows: outbox, drafts, key and pinned daemon.

import * as z from "zod/mini";
import { type CommandId, ID_PATTERN } from "../../shared/ids.ts";
import { type CommandMethod, isMethod, methods } from "../../shared/protocol/methods.ts";
import { ask, write } from "./indexed-database.ts";
import type { Drafts, Keyring, OutboxStore } from "./replica.ts";

const outboxEntrySchema = z.object({
  commandId: z.pipe(
    z.string().check(z.regex(ID_PATTERN)),
    z.transform((id) => id as CommandId),
  ),
  method: z.pipe(
    z.string().check(z.refine((name) => isMethod(name) && methods[name].kind === "command")),
    z.transform((name) => name as CommandMethod),
  ),
  params: z.unknown(),
  state: z.enum(["waiting", "sent"]),
  createdAt: z.int(),
});

export function outboxIn(db: IDBDatabase): OutboxStore {
  /** Gives `work` the entry and its key, if it is there. */
  const withEntry = (
    commandId: CommandId,
    work: (store: IDBObjectStore, key: number) => boolean | Promise<boolean>,
  ): Promise<boolean> =>
    write(db, ["outbox"], async (tx) => {
      const store = tx.objectStore("outbox");
      const key = await ask(store.index("commandId").getKey(commandId));
      return typeof key === "number" && (await work(store, key));
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
      withEntry(commandId, async (store, key) => {
        store.put({ ...(await entryAt(store, key)), state: "sent" }, key);
        return true;
      }),
    withdrawOutbox: (commandId) =>
      withEntry(commandId, async (store, key) => {
        if ((await entryAt(store, key)).state === "sent") return false;
        store.delete(key);
        return true;
      }),
    async removeOutbox(commandId) {
      await withEntry(commandId, (store, key) => {
        store.delete(key);
        return true;
      });
    },
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
      write(db, ["identity"], (tx) => {
        const store = tx.objectStore("identity");
        store.delete("offered");
        if (publicKey === null) store.delete("daemon");
        else store.put(publicKey, "daemon");
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
