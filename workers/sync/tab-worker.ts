// The sync worker of one tab in a browser without SharedWorker: it leads and runs the engine for the
// pages of all tabs, or follows and relays its own. What its page says while no engine is to be had
// waits; when another engine takes over, the page attaches to that one anew.

import type { Clock } from "../clock.ts";
import { Election, type Locks } from "./election.ts";
import { Follower } from "./follower.ts";
import { type Accept, Leader } from "./leader.ts";
import type { PageMessage, RenderPort, SyncMessage } from "./port.ts";
import {
  type Hall,
  type HallMessage,
  hallName,
  type OpenChannel,
  type RelayedMessage,
} from "./relay.ts";

export interface TabWorkerOptions {
  /** Workers of another build have nothing to do with this one. */
  readonly build: string;
  /** The lock that this worker holds for as long as it lives. */
  readonly life: string;
  readonly locks: Locks;
  readonly openChannel: OpenChannel;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  /** To its own page. */
  readonly post: (message: SyncMessage) => void;
  /** Starts the engine. Once at most. */
  readonly lead: () => Accept;
  /** Ends this worker with its engine and its locks, at once: another leads. Its page starts one anew. */
  readonly stepDown: () => void;
  readonly report: (error: unknown) => void;
}

type Receive = (message: PageMessage) => void;

/** Where what the page says goes. */
type Way =
  /** No engine is known. */
  | { kind: "none" }
  | { kind: "open"; receive: Receive }
  /** Another engine than before: the page was told, and has to attach first. */
  | { kind: "successor"; receive: Receive };

export class TabWorker {
  readonly #options: TabWorkerOptions;
  readonly #election: Election;
  readonly #hall: Hall;
  readonly #follower: Follower;
  /** Null: this worker follows. */
  #leader: Leader | null = null;
  #way: Way = { kind: "none" };
  /** An engine was reached before. */
  #wasServed = false;
  #held: PageMessage[] = [];
  #renderPort: RenderPort | null = null;
  #isAliveSaid = false;

  constructor(options: TabWorkerOptions) {
    this.#options = options;
    const { build, life, locks, openChannel, clock, random, stepDown, report } = options;
    this.#hall = openChannel<HallMessage, HallMessage>(hallName(build));
    this.#follower = new Follower({
      build,
      id: life,
      hall: this.#hall,
      openChannel,
      clock,
      random,
      joined: () => this.#reach((message) => this.#relay(message)),
      left: () => this.#leave(),
      told: (message) => this.#tell(message),
      render: (input) => this.#renderPort?.postMessage(input),
      abandoned: () => this.#election.seize(),
    });
    this.#election = new Election({
      locks,
      lock: `troupe-leader ${build}`,
      life,
      elected: () => this.#lead(),
      robbed: stepDown,
      report,
    });
    this.#hall.listen((message) => {
      if (this.#leader === null) this.#follower.hall(message);
      else this.#leader.hall(message);
    });
  }

  start(): void {
    this.#election.stand();
    this.#follower.start();
  }

  /** A message of its page. */
  receive(message: PageMessage): void {
    if (message.type === "visible") {
      if (this.#leader === null) this.#follower.seen(message.isVisible);
      return;
    }
    const way = this.#way;
    if (way.kind === "open") way.receive(message);
    else if (way.kind === "successor" && message.type === "attach") {
      this.#way = { kind: "open", receive: way.receive };
      for (const each of [message, ...this.#takeHeld().flatMap(lasting)]) way.receive(each);
    } else this.#held.push(message);
  }

  #relay(message: PageMessage): void {
    if (message.type === "attach") {
      const { renderPort, ...relayed } = message;
      this.#renderPort = renderPort;
      this.#follower.say(relayed);
    } else this.#follower.say(message);
  }

  #reach(receive: Receive): void {
    if (this.#wasServed) {
      this.#way = { kind: "successor", receive };
      this.#options.post({ type: "successor" });
    } else {
      this.#wasServed = true;
      this.#way = { kind: "open", receive };
      for (const message of this.#takeHeld()) receive(message);
    }
  }

  #leave(): void {
    this.#way = { kind: "none" };
    this.#held.unshift(...this.#follower.takeUnheard().flatMap(lasting));
  }

  #lead(): void {
    this.#leave();
    this.#follower.stop();
    const { build, life, locks, openChannel, lead, stepDown, report } = this.#options;
    const accept = lead();
    this.#leader = new Leader({
      build,
      id: life,
      hall: this.#hall,
      openChannel,
      accept,
      isLeading: () => this.#election.isHolder(),
      robbed: stepDown,
      whenReleased: async (lock) => {
        await locks.request(lock, {}, async () => {});
      },
      report,
    });
    this.#leader.start();
    this.#reach(accept((message) => this.#tell(message)));
  }

  /** What the engine says of itself is true of this worker only as to when: it serves from now on. */
  #tell(message: SyncMessage): void {
    const { life, post } = this.#options;
    if (message.type !== "alive") post(message);
    else if (!this.#isAliveSaid) {
      this.#isAliveSaid = true;
      post({ type: "alive", lock: life });
    }
  }

  #takeHeld(): PageMessage[] {
    const held = this.#held;
    this.#held = [];
    return held;
  }
}

/** Of what no engine took up, that which a page does not say again when it attaches anew. */
function lasting(message: PageMessage | RelayedMessage): PageMessage[] {
  switch (message.type) {
    case "draft":
    case "enrol":
      return [message];
    case "attach":
      return message.enrolment === null ? [] : [{ type: "enrol", enrolment: message.enrolment }];
    default:
      return [];
  }
}
