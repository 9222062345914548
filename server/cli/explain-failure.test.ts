import { describe, expect, it } from "vitest";
import { StoreError, type StoreErrorCode } from "../store/store.ts";
import { TransportError, type TransportErrorCode } from "../transport/transport-error.ts";
import { explainFailure } from "./explain-failure.ts";
import { StartError } from "./start-error.ts";

const ATTEMPT = { host: "127.0.0.1", port: 4780, dataDir: "/data" };

describe("what a person is told when the daemon does not start", () => {
  it.each<[TransportErrorCode, string]>([
    ["port_taken", "--port"],
    ["port_forbidden", "--port"],
    ["bad_host", "--host"],
    ["socket_taken", "/data"],
    ["socket_unusable", "XDG_RUNTIME_DIR"],
    ["timed_out", "/data"],
    ["closed", "/data"],
  ])("names the way out of %s", (code, wayOut) => {
    expect(explainFailure(new TransportError(code, "It failed."), ATTEMPT)).toContain(wayOut);
  });

  it.each<[StoreErrorCode, string]>([
    ["schema_too_new", "Update Troupe"],
    ["driver_unusable", "npm start"],
    ["not_writable", "--data-dir"],
    ["migration_failed", "/data"],
    ["corrupt", "backup"],
  ])("names the way out of %s", (code, wayOut) => {
    expect(explainFailure(new StoreError(code, "It failed"), ATTEMPT)).toContain(wayOut);
  });

  it("lets what is worded already stand, and leaves bugs to their trace", () => {
    expect(explainFailure(new StartError("not_running", "Nobody home."), ATTEMPT)).toBe(
      "Nobody home.",
    );
    expect(explainFailure(new TypeError("x is not a function"), ATTEMPT)).toBeNull();
  });
});
