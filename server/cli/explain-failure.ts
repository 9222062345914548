// Words for why the program could not do what it was started for: what happened, and what to do.

import { assertNever } from "../../shared/assert-never.ts";
import { Failure } from "../../shared/protocol/errors.ts";
import { StoreError } from "../store/store.ts";
import { TransportError } from "../transport/transport-error.ts";
import { StartError } from "./start-error.ts";

export interface Attempt {
  readonly host: string;
  readonly port: number;
  readonly dataDir: string;
}

/** Null: nobody foresaw this, so it is a bug and its trace is worth showing. */
export function explainFailure(error: unknown, attempt: Attempt): string | null {
  if (error instanceof StartError) return error.message;
  if (error instanceof Failure) return `The running daemon refused: ${error.message}`;
  if (error instanceof TransportError) return explainTransport(error, attempt);
  return error instanceof StoreError ? explainStore(error, attempt) : null;
}

function explainTransport(error: TransportError, { host, port, dataDir }: Attempt): string {
  switch (error.code) {
    case "port_taken":
      return (
        `Port ${port} on ${host} belongs to another program. ` +
        "Choose another one with --port NUMBER (0 takes any free one)."
      );
    case "port_forbidden":
      return `This user may not listen on port ${port}. Choose one above 1023 with --port NUMBER.`;
    case "bad_host":
      return `${host} is no address of this machine. Choose another one with --host NAME.`;
    case "socket_taken":
      return `Another daemon already works on ${dataDir}. Stop it first.`;
    case "socket_unusable":
      return (
        `The command line's socket cannot be used: ${sentence(error.message)} ` +
        "Check XDG_RUNTIME_DIR, or choose another folder with --data-dir PATH."
      );
    case "timed_out":
    case "closed":
      return `A daemon works on ${dataDir} but does not answer: ${sentence(error.message)} Stop it and try again.`;
    default:
      return assertNever(error.code);
  }
}

function explainStore(error: StoreError, { dataDir }: Attempt): string {
  switch (error.code) {
    case "schema_too_new":
      return `${sentence(error.message)} Update Troupe, or choose another folder with --data-dir PATH.`;
    case "driver_unusable":
      return `${sentence(error.message)} Start Troupe with \`npm start\`, or run \`npm rebuild better-sqlite3\` in its folder.`;
    case "not_writable":
      return `${sentence(error.message)} Make ${dataDir} writable, or choose another one with --data-dir PATH.`;
    case "migration_failed":
      return `${sentence(error.message)} Nothing was changed; the state before is in ${dataDir}.`;
    case "corrupt":
    case "blob_missing":
      return `${sentence(error.message)} Restore ${dataDir} from a backup, or choose another one with --data-dir PATH.`;
    case "session_deleted":
      return sentence(error.message);
    default:
      return assertNever(error.code);
  }
}

const sentence = (text: string): string => (text.endsWith(".") ? text : `${text}.`);
