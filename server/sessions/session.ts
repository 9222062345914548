// One live session, an actor: it alone changes the session's state, one thing after another, in
// transactions that read what they decide by. The running request's loop runs beside it.

import type { SessionId } from "../../shared/ids.ts";
import { Failure } from "../../shared/protocol/errors.ts";
import { turnRowId } from "../../shared/protocol/rows.ts";
import { traceOf } from "../log.ts";
import { type ReadTx, StoreError, type WriteTx } from "../store/store.ts";
import type { SessionDeps } from "./deps.ts";
import {
  type Begun,
  beginNext,
  endRequest,
  endTurn,
  putSession,
  type RequestEnd,
  type SessionFacts,
} from "./ending.ts";
import { runRequest } from "./loop.ts";
import { buildMessages, newTurn } from "./messages.ts";
import { Run, type RunPort } from "./run.ts";

/** How soon the end of a request is written again that a full disk kept out. */
const RECORD_AGAIN_MS = 5_000;

/** Decides by the facts and changes them, in the caller's transaction. What it throws undoes all. */
export type Change<T> = (tx: WriteTx, facts: SessionFacts) => Promise<T>;

export interface SessionHost {
  /** True once the daemon goes down: nothing new begins. */
  isStopping(): boolean;
  /** Called when nothing runs or waits here any more. */
  idle(session: Session): void;
}

export class Session {
  readonly id: SessionId;
  readonly #deps: SessionDeps;
  readonly #host: SessionHost;
  #mailbox: Promise<unknown> = Promise.resolve();
  #posted = 0;
  #run: Run | null = null;

  constructor(id: SessionId, deps: SessionDeps, host: SessionHost) {
    this.id = id;
    this.#deps = deps;
    this.#host = host;
  }

  /** One change; the running request's end, if one is due, and the next one's beginning go with it. */
  change<T>(work: Change<T>): Promise<T> {
    return this.#post(() => this.#change(work));
  }

  /**
   * Ends the running request if `isMeant`, at once, then makes the change. When the change fails, the
   * request has ended all the same, and the next change records it.
   */
  endAndChange<T>(isMeant: (run: Run) => boolean, end: RequestEnd, work: Change<T>): Promise<T> {
    return this.#post(() => {
      if (this.#run && isMeant(this.#run)) this.#run.close(end);
      return this.#change(work);
    });
  }

  /** Deletes the session: the tombstone takes all of its rows, and a straggler finds nothing to write to. */
  remove<T>(settle: (tx: WriteTx) => Promise<T>): Promise<T> {
    return this.#post(async () => {
      this.#run?.close({ state: "cancelled" });
      const { value, head } = await this.#deps.store.write(async (tx) => {
        await readFacts(tx, this.id);
        if (this.#run) await tx.dropStream(this.id, this.#run.turnId);
        await tx.remove("session", this.id, this.id);
        return settle(tx);
      });
      this.#letGo(head);
      return value;
    });
  }

  #post<T>(task: () => Promise<T>): Promise<T> {
    this.#posted += 1;
    const done = this.#mailbox.then(task).finally(() => {
      this.#posted -= 1;
      if (this.#posted === 0 && this.#run === null) this.#host.idle(this);
    });
    this.#mailbox = done.catch(() => {}); // Its caller hears of it from `done`.
    return done;
  }

  async #change<T>(work: Change<T>): Promise<T> {
    const { store, clock } = this.#deps;
    const ended = this.#run?.end ? this.#run : null;
    const writing = store.write(async (tx) => {
      const facts = await readFacts(tx, this.id);
      if (ended?.end) await this.#recordEnd(tx, facts, ended, ended.end);
      const result = await work(tx, facts);
      const isFree = (this.#run === null || ended !== null) && !this.#host.isStopping();
      const begun = isFree ? await beginNext(tx, facts, clock.now()) : null;
      await putSession(tx, facts);
      return { result, begun, session: facts.session };
    });
    const { value, head } = await writing.catch((error: unknown) => {
      if (ended && isDiskFailure(error)) this.#recordLater(ended);
      throw error;
    });
    if (ended) this.#letGo(head, value.begun === null);
    if (value.begun) this.#launch(value.begun, value.session);
    return value.result;
  }

  /** Until the end of `run` is recorded it counts as running, and nothing else can begin. */
  #recordLater(run: Run): void {
    this.#deps.clock.after(RECORD_AGAIN_MS, () => {
      if (this.#run !== run || this.#host.isStopping()) return;
      // What goes wrong was told when it did the first time.
      this.#post(() => this.#change(async () => {})).catch(() => {});
    });
  }

  async #recordEnd(tx: WriteTx, facts: SessionFacts, run: Run, end: RequestEnd): Promise<void> {
    const now = this.#deps.clock.now();
    const request = facts.requests.find((each) => each.id === run.requestId);
    await endTurn(tx, this.id, run.openTurn(), { end, now });
    if (!request) return;
    await endRequest(tx, facts, request, { end, now, lastTurnId: run.turnId, usage: run.usage });
  }

  /** The ended run's text is in its rows now. */
  #letGo(head: number, isLast = true): void {
    if (this.#run === null) return;
    this.#run.stream.end();
    this.#run = null;
    if (isLast) this.#deps.live.publish(this.id, { type: "session.doing", doing: null }, head);
  }

  #launch(begun: Begun, session: SessionFacts["session"]): void {
    const { live, store } = this.#deps;
    const stream = live.openStream(this.id, begun.turnId, begun.turnRev);
    const run = new Run(begun, session, stream);
    this.#run = run;
    live.publish(this.id, { type: "session.doing", doing: "Thinking" }, begun.turnRev);
    void runRequest(this.#deps, this.#portOf(run), async () =>
      buildMessages(store, {
        requests: await store.rows("request", this.id),
        turns: await store.rows("turn", this.id),
        results: await store.rows("toolResult", this.id),
      }),
    );
  }

  #portOf(run: Run): RunPort {
    const { store, live, clock } = this.#deps;
    /** In the session's order, unless the request has ended by then. */
    const inTurn = <T>(task: () => Promise<T>): Promise<T> =>
      this.#post(() => {
        run.throwIfClosed();
        return task();
      });
    return {
      sessionId: this.id,
      run,
      changeTurn: (work) =>
        inTurn(async () => {
          const { value } = await store.write(async (tx) => {
            const turn = await work(tx, run.turn);
            return { turn, rev: await tx.put("turn", this.id, turnRowId(run.turnId), turn) };
          });
          run.turn = value.turn;
          run.turnRev = value.rev;
          if (value.turn.state === "done") run.stream.end();
          return value.rev;
        }),
      nextTurn: () =>
        inTurn(async () => {
          const turnId = run.turnId + 1;
          const turn = newTurn(run.requestId, run.session.model, clock.now());
          const { value: turnRev } = await store.write((tx) =>
            tx.put("turn", this.id, turnRowId(turnId), turn),
          );
          const stream = live.openStream(this.id, turnId, turnRev);
          run.startTurn({ requestId: run.requestId, turnId, turn, turnRev }, stream);
          live.publish(this.id, { type: "session.doing", doing: "Thinking" }, turnRev);
        }),
      saveStream: () =>
        inTurn(async () => {
          const { state } = run.turn;
          if (state !== "streaming" && state !== "calling") return;
          const saved = { sessionId: this.id, turnId: run.turnId, parts: run.stream.parts() };
          await store.write((tx) => tx.saveStream(saved));
        }),
      finish: (end) =>
        this.#post(async () => {
          if (run.end !== null) return;
          run.close(end);
          await this.#change(async () => {}).catch((error: unknown) => {
            this.#deps.log.error({ trace: traceOf(error) }, "a request's end was not recorded");
          });
        }),
    };
  }
}

const isDiskFailure = (error: unknown): boolean =>
  error instanceof StoreError && error.code === "not_writable";

async function readFacts(tx: ReadTx, sessionId: SessionId): Promise<SessionFacts> {
  const stored = await tx.row("session", sessionId, sessionId);
  if (stored === null) {
    throw new Failure("session_gone", "This session does not exist; it may have been deleted.", {
      details: { sessionId },
    });
  }
  const requests = await tx.rows("request", sessionId);
  return { sessionId, session: stored.row, requests: [...requests] };
}
