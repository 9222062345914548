// One map: method → kind, params and result. Both sides derive their types from it.
// A command changes something and carries a commandId (F5); a query does not.

import * as z from "zod/mini";
import { PATH_MAX_CHARS, SHARE_MAX_DAYS, TITLE_MAX_CHARS } from "../limits.ts";
import { blobHashSchema, deviceIdSchema, requestIdSchema, sessionIdSchema } from "./rows.ts";

const title = z.string().check(z.trim(), z.minLength(1), z.maxLength(TITLE_MAX_CHARS));
const path = z.string().check(z.minLength(1), z.maxLength(PATH_MAX_CHARS));
const session = { sessionId: sessionIdSchema };
const shareId = z.string().check(z.regex(/^[A-Za-z0-9_-]{22}$/));
const none = z.object({});
const requests = z.object({ requestIds: z.array(requestIdSchema) });

/** At most PROMPT_MAX_BYTES of UTF-8; the daemon counts them, and answers too_large with both numbers. */
const promptText = z.string().check(z.minLength(1));

const command = <P, R>(params: P, result: R) => ({ kind: "command" as const, params, result });
const query = <P, R>(params: P, result: R) => ({ kind: "query" as const, params, result });
/** A query that only a local connection (the daemon's Unix socket) may make. */
const local = <P, R>(params: P, result: R) => ({ kind: "local" as const, params, result });

const folderSchema = z.object({
  /** Absolute, links resolved. */
  path: z.string(),
  /** The same with the home folder as `~`. */
  shown: z.string(),
  branch: z.nullable(z.string()),
  /** Files below, ignored ones left out; null when counting was given up. */
  fileCount: z.nullable(z.int()),
  /** Names of the folders directly inside, sorted, at most 200. */
  folders: z.array(z.string()),
  foldersLeftOut: z.int(),
});
export type Folder = z.infer<typeof folderSchema>;

const modelSchema = z.object({
  /** `provider/model`. */
  id: z.string(),
  name: z.string(),
  description: z.string(),
});
export type Model = z.infer<typeof modelSchema>;

export const methods = {
  /** The new session's id is the commandId. */
  "session.create": command(
    z.object({ workingDir: path, title: z.optional(title), model: z.optional(z.string()) }),
    z.object({ sessionId: sessionIdSchema }),
  ),
  "session.rename": command(z.object({ ...session, title }), none),
  "session.pin": command(z.object({ ...session, pinned: z.boolean() }), none),
  "session.archive": command(z.object({ ...session, archived: z.boolean() }), none),
  "session.delete": command(z.object(session), none),
  /** The request's id is the commandId. Queued when one is running. */
  "session.prompt": command(
    z.object({ ...session, text: promptText }),
    z.object({ requestId: requestIdSchema, queued: z.boolean() }),
  ),
  /** Without requestId: all that runs or waits in the session. */
  "session.stop": command(
    z.object({ ...session, requestId: z.optional(requestIdSchema) }),
    requests,
  ),
  /** The request's id is the commandId. */
  "session.continue": command(z.object(session), z.object({ requestId: requestIdSchema })),
  "session.undo": command(z.object(session), requests),
  "session.redo": command(z.object(session), requests),
  /**
   * The maker of the link keeps its secret (16 random bytes in base64url); `shareId` is the hash of the secret's
   * characters, as in the share's row, and new. Null days: until it is revoked.
   */
  "share.create": command(
    z.object({
      ...session,
      shareId,
      days: z.nullable(z.int().check(z.positive(), z.maximum(SHARE_MAX_DAYS))),
    }),
    none,
  ),
  /** Takes the link back, and from its viewers the session. */
  "share.revoke": command(z.object({ ...session, shareId }), none),
  "device.rename": command(z.object({ deviceId: deviceIdSchema, name: title }), none),
  "device.revoke": command(z.object({ deviceId: deviceIdSchema }), none),
  /** No path: the home folder. A leading `~` is the home folder. */
  "folder.describe": query(z.object({ path: z.optional(path) }), folderSchema),
  "model.list": query(none, z.object({ models: z.array(modelSchema), preferred: z.string() })),
  /** `bytes`: at most BLOB_CHUNK_MAX_BYTES from `offset`; `size`: the whole blob's. */
  "blob.read": query(
    z.object({ hash: blobHashSchema, offset: z.int().check(z.nonnegative()) }),
    z.object({ bytes: z.instanceof(Uint8Array), size: z.int() }),
  ),
  "daemon.status": local(
    none,
    z.object({ version: z.string(), pid: z.int(), origin: z.string(), connections: z.int() }),
  ),
  /** A launch link, good once for LAUNCH_TOKEN_LIFETIME_MS. */
  "daemon.link": local(none, z.object({ url: z.string(), expiresAt: z.int() })),
} as const;

export type MethodMap = typeof methods;
export type Method = keyof MethodMap;
export type Params<M extends Method> = z.infer<MethodMap[M]["params"]>;
export type Result<M extends Method> = z.infer<MethodMap[M]["result"]>;
type OfKind<K> = { [M in Method]: MethodMap[M]["kind"] extends K ? M : never }[Method];
export type CommandMethod = OfKind<"command">;
export type QueryMethod = OfKind<"query">;

/** Narrows a string from outside; names inherited from Object are no methods. */
export const isMethod = (name: string): name is Method => Object.hasOwn(methods, name);
