// What the workers of a browser's tabs say to each other where one of them, the leader, runs the engine
// for all. Everyone hears the hall; a line joins the leader and one follower. Both bear the name of the
// build, so that the workers of two builds never meet.

import type { RenderInput } from "../render/port.ts";
import type { PageMessage, SyncMessage } from "./port.ts";

/** A worker is known by the lock that it holds for as long as it lives. */
export type HallMessage =
  | { type: "who" }
  | { type: "leading"; leader: string }
  | { type: "join"; leader: string; follower: string };

/** Ports do not travel: what the renderer is to have comes over the line. */
export type RelayedMessage =
  | Exclude<PageMessage, { type: "attach" }>
  | Omit<Extract<PageMessage, { type: "attach" }>, "renderPort">;

/** Both are answered with `heard`. */
export type FollowerMessage =
  | { type: "say"; number: number; message: RelayedMessage }
  | { type: "ping"; number: number };

export type LeaderMessage =
  /** First message of a leader. */
  | { type: "joined" }
  /** All up to this number have been taken up by the engine. */
  | { type: "heard"; number: number }
  | { type: "told"; message: SyncMessage }
  | { type: "render"; input: RenderInput };

/** A BroadcastChannel: what one end posts, all others of that name get, in that order. */
export interface Channel<In, Out> {
  listen(listener: (message: In) => void): void;
  post(message: Out): void;
  close(): void;
}

export type Hall = Channel<HallMessage, HallMessage>;
export type LeaderLine = Channel<FollowerMessage, LeaderMessage>;
export type FollowerLine = Channel<LeaderMessage, FollowerMessage>;

/** What the ends of a channel say is said by this file's types alone. */
export type OpenChannel = <In, Out>(name: string) => Channel<In, Out>;

export const hallName = (build: string): string => `troupe-hall ${build}`;
export const lineName = (build: string, leader: string, follower: string): string =>
  `troupe-line ${build} ${leader} ${follower}`;
