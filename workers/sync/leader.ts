// The worker that leads serves the pages of the others with its engine, each over a line of its own. To
// the engine they are pages like its own.

import { assertNever } from "../../shared/assert-never.ts";
import type { PageMessage, RenderPort, SyncMessage } from "./port.ts";
import {
  type Hall,
  type HallMessage,
  type LeaderLine,
  lineName,
  type OpenChannel,
  type RelayedMessage,
} from "./relay.ts";

/** A page came: gives what takes its messages. */
export type Accept = (post: (message: SyncMessage) => void) => (message: PageMessage) => void;

export interface LeaderOptions {
  readonly build: string;
  readonly id: string;
  readonly hall: Hall;
  readonly openChannel: OpenChannel;
  readonly accept: Accept;
  /** Whether this worker still has the lead. */
  readonly isLeading: () => Promise<boolean>;
  readonly robbed: () => void;
  /** Resolves once nobody holds this lock any more. */
  readonly whenReleased: (lock: string) => Promise<void>;
  readonly report: (error: unknown) => void;
}

export class Leader {
  readonly #options: LeaderOptions;
  readonly #lines = new Map<string, LeaderLine>();

  constructor(options: LeaderOptions) {
    this.#options = options;
  }

  /** It has just been elected. */
  start(): void {
    this.#post();
  }

  hall(message: HallMessage): void {
    switch (message.type) {
      case "who":
      // One of two was robbed in its sleep.
      case "leading":
        this.#announce().catch(this.#options.report);
        return;
      case "join":
        if (message.leader === this.#options.id) this.#join(message.follower);
        return;
      default:
        assertNever(message);
    }
  }

  async #announce(): Promise<void> {
    if (await this.#options.isLeading()) this.#post();
    else this.#options.robbed();
  }

  #post(): void {
    this.#options.hall.post({ type: "leading", leader: this.#options.id });
  }

  /** A follower may ask twice before it has its answer. */
  #join(follower: string): void {
    const line = this.#lines.get(follower) ?? this.#openLine(follower);
    line.post({ type: "joined" });
  }

  #openLine(follower: string): LeaderLine {
    const { build, id, openChannel, accept, whenReleased, report } = this.#options;
    const line: LeaderLine = openChannel(lineName(build, id, follower));
    this.#lines.set(follower, line);
    const receive = accept((message) => line.post({ type: "told", message }));
    line.listen((message) => {
      if (message.type === "say") receive(fromPage(message.message, line));
      line.post({ type: "heard", number: message.number });
    });
    whenReleased(follower).then(() => {
      receive({ type: "detach" });
      this.#lines.delete(follower);
      line.close();
    }, report);
    return line;
  }
}

function fromPage(message: RelayedMessage, line: LeaderLine): PageMessage {
  if (message.type !== "attach") return message;
  const renderPort: RenderPort = {
    postMessage: (input) => line.post({ type: "render", input }),
    close: () => {},
  };
  return { ...message, renderPort };
}
