// Composition root of what only browsers without SharedWorker need, loaded when it is.

import { workerClock } from "../clock.ts";
import type { Accept } from "./leader.ts";
import type { SyncMessage } from "./port.ts";
import type { Channel } from "./relay.ts";
import { TabWorker } from "./tab-worker.ts";

export interface JoinTabsOptions {
  readonly life: string;
  readonly post: (message: SyncMessage) => void;
  readonly lead: () => Accept;
}

/** Gives what takes the page's messages. */
export function joinTabs({ life, post, lead }: JoinTabsOptions): ReturnType<Accept> {
  const { location, navigator } = self;
  const worker = new TabWorker({
    // As for a SharedWorker, the address of its script tells one build from another.
    build: location.pathname,
    life,
    locks: navigator.locks,
    openChannel,
    clock: workerClock,
    random: Math.random,
    post,
    lead,
    stepDown: () => self.close(),
    report: (error) => self.reportError(error),
  });
  worker.start();
  return (message) => worker.receive(message);
}

function openChannel<In, Out>(name: string): Channel<In, Out> {
  const channel = new BroadcastChannel(name);
  return {
    listen: (listener) => {
      channel.onmessage = ({ data }: MessageEvent<In>) => listener(data);
    },
    post: (message) => channel.postMessage(message),
    close: () => channel.close(),
  };
}
