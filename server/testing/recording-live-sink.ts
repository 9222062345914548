// A LiveSink for tests that remembers what it was told.

import type { SessionId } from "../../shared/ids.ts";
import type { LiveEvent, Part } from "../../shared/protocol/live-events.ts";
import type { LiveSink, TurnStream } from "../feed/live-sink.ts";

export interface RecordedStream extends TurnStream {
  readonly sessionId: SessionId;
  readonly turnId: number;
  readonly rowRev: number;
  readonly isEnded: boolean;
}

export interface RecordingLiveSink extends LiveSink {
  readonly streams: RecordedStream[];
  readonly events: { sessionId: SessionId; event: LiveEvent; afterRev: number }[];
  /** What each session was last said to be doing, in order. */
  doing(): (string | null)[];
  /** Called after each text added, so that a test can act in mid-stream. */
  onAppend: (stream: RecordedStream, part: Part) => void;
}

export function makeRecordingLiveSink(): RecordingLiveSink {
  const streams: RecordedStream[] = [];
  const events: RecordingLiveSink["events"] = [];
  const sink: RecordingLiveSink = {
    streams,
    events,
    onAppend: () => {},
    doing: () =>
      events.flatMap(({ event }) => (event.type === "session.doing" ? [event.doing] : [])),
    publish(sessionId, event, afterRev) {
      events.push({ sessionId, event, afterRev });
    },
    openStream(sessionId, turnId, rowRev) {
      const texts: Partial<Record<Part, string>> = {};
      let isEnded = false;
      const stream: RecordedStream = {
        sessionId,
        turnId,
        rowRev,
        get isEnded() {
          return isEnded;
        },
        append(part, text) {
          if (isEnded) throw new Error(`turn ${turnId} got text after its end`);
          texts[part] = (texts[part] ?? "") + text;
          sink.onAppend(stream, part);
        },
        text: (part) => texts[part] ?? "",
        parts: () => ({ ...texts }),
        end() {
          isEnded = true;
        },
      };
      streams.push(stream);
      return stream;
    },
  };
  return sink;
}
