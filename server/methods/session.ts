// session.*: what the sessions do, under the names of the protocol.

import type { Sessions } from "../sessions/sessions.ts";
import { command } from "./entry.ts";

export const sessionMethods = (sessions: Sessions) => ({
  "session.create": command("session.create", sessions.create),
  "session.rename": command("session.rename", sessions.rename),
  "session.pin": command("session.pin", sessions.pin),
  "session.archive": command("session.archive", sessions.archive),
  "session.delete": command("session.delete", sessions.remove),
  "session.prompt": command("session.prompt", sessions.prompt),
  "session.stop": command("session.stop", sessions.stop),
  "session.continue": command("session.continue", sessions.resume),
  "session.undo": command("session.undo", sessions.undo),
  "session.redo": command("session.redo", sessions.redo),
});
