// A worker that does not lead: finds the leader, relays what its page says, and what the leader answers.
// While someone sees the page it makes sure that the leader lives; of a hidden page nobody waits for it.

import { assertNever } from "../../shared/assert-never.ts";
import type { Clock } from "../clock.ts";
import type { RenderInput } from "../render/port.ts";
import type { SyncMessage } from "./port.ts";
import {
  type FollowerLine,
  type Hall,
  type HallMessage,
  type LeaderMessage,
  lineName,
  type OpenChannel,
  type RelayedMessage,
} from "./relay.ts";

/** A leader is asked this long after it was last heard. */
export const PING_MS = 2_000;
/** A leader that says nothing for so long has stopped. */
export const PATIENCE_MS = 1_500;
/** Added by chance, so that not all followers act at once. */
export const PATIENCE_SPREAD_MS = 500;
/** A timer that is later than this was held up together with the answer it waited for. */
const LATE_MS = 500;

export interface FollowerOptions {
  readonly build: string;
  readonly id: string;
  readonly hall: Hall;
  readonly openChannel: OpenChannel;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  /** A leader takes what is said from now on; the one before, if there was one, knows `unheard` no more. */
  joined(): void;
  /** There is no leader to say anything to, until `joined`. */
  left(): void;
  told(message: SyncMessage): void;
  render(input: RenderInput): void;
  /** Someone looks, and no leader answers. */
  abandoned(): void;
}

interface Line {
  readonly leader: string;
  readonly channel: FollowerLine;
  isJoined: boolean;
}

export class Follower {
  readonly #options: FollowerOptions;
  #line: Line | null = null;
  #isSeen = true;
  #lastNumber = 0;
  #unheard: { number: number; message: RelayedMessage }[] = [];
  /** Waits for an answer, or for the time to ask. */
  #timer: { isForAnswer: boolean; cancel: () => void } | null = null;

  constructor(options: FollowerOptions) {
    this.#options = options;
  }

  start(): void {
    this.#ask();
  }

  /** Ends it. */
  stop(): void {
    this.#stopTimer();
    this.#line?.channel.close();
    this.#line = null;
  }

  /** What no leader is known to have heard, in the order said; forgets it. */
  takeUnheard(): RelayedMessage[] {
    const unheard = this.#unheard;
    this.#unheard = [];
    return unheard.map(({ message }) => message);
  }

  /** Only between `joined` and `left`. */
  say(message: RelayedMessage): void {
    const number = ++this.#lastNumber;
    this.#unheard.push({ number, message });
    this.#line?.channel.post({ type: "say", number, message });
    this.#await();
  }

  /** Whether someone sees the page. */
  seen(isSeen: boolean): void {
    this.#isSeen = isSeen;
    this.#stopTimer();
    if (isSeen) this.#ask();
  }

  hall(message: HallMessage): void {
    if (message.type !== "leading" || message.leader === this.#line?.leader) return;
    const wasJoined = this.#line?.isJoined === true;
    this.#line?.channel.close();
    const { build, id, openChannel } = this.#options;
    const channel: FollowerLine = openChannel(lineName(build, message.leader, id));
    channel.listen((answer) => this.#hear(answer));
    this.#line = { leader: message.leader, channel, isJoined: false };
    if (wasJoined) this.#options.left();
    this.#stopTimer();
    this.#ask();
  }

  #hear(message: LeaderMessage): void {
    this.#answered();
    switch (message.type) {
      case "joined":
        if (this.#line === null || this.#line.isJoined) return;
        this.#line.isJoined = true;
        this.#options.joined();
        return;
      case "heard":
        this.#unheard = this.#unheard.filter(({ number }) => number > message.number);
        return;
      case "told":
        this.#options.told(message.message);
        return;
      case "render":
        this.#options.render(message.input);
        return;
      default:
        assertNever(message);
    }
  }

  /** Asks whoever should answer now: the leader, if one is known. */
  #ask(): void {
    const { hall, id } = this.#options;
    if (this.#line === null) hall.post({ type: "who" });
    else if (this.#line.isJoined) {
      this.#line.channel.post({ type: "ping", number: this.#lastNumber });
    } else hall.post({ type: "join", leader: this.#line.leader, follower: id });
    this.#await();
  }

  #await(): void {
    if (!this.#isSeen || this.#timer?.isForAnswer) return;
    this.#stopTimer();
    const { clock, random } = this.#options;
    const patience = PATIENCE_MS + random() * PATIENCE_SPREAD_MS;
    const lateAt = clock.now() + patience + LATE_MS;
    const cancel = clock.after(patience, () => {
      this.#timer = null;
      if (clock.now() > lateAt) this.#ask();
      else this.#options.abandoned();
    });
    this.#timer = { isForAnswer: true, cancel };
  }

  #answered(): void {
    if (!this.#timer?.isForAnswer) return;
    this.#stopTimer();
    const cancel = this.#options.clock.after(PING_MS, () => {
      this.#timer = null;
      this.#ask();
    });
    this.#timer = { isForAnswer: false, cancel };
  }

  #stopTimer(): void {
    this.#timer?.cancel();
    this.#timer = null;
  }
}
