import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

/** Runs a script under a Node that says it is `version`. */
function runUnder(version: string, script: string) {
  const stub = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "${version}" } });`;
  const preload = `data:text/javascript,${encodeURIComponent(stub)}`;
  const path = fileURLToPath(new URL(script, import.meta.url));
  return spawnSync(process.execPath, ["--import", preload, path], { encoding: "utf8" });
}

describe("an older Node", () => {
  it.each(["18.20.4", "20.18.3"])("%s is told to be too old", (version) => {
    const { status, stderr } = runUnder(version, "node-version.mjs");
    expect(status).toBe(1);
    expect(stderr).toContain(`Troupe needs Node 20.19 or newer; this is Node ${version}.`);
  });

  it.each(["20.19.0", "22.0.0"])("%s is new enough", (version) => {
    expect(runUnder(version, "node-version.mjs")).toMatchObject({ status: 0, stderr: "" });
  });

  /** The build's own parts, which no one runs. */
  const parts = ["precompress.mjs", "trim-marked.mjs"];
  const own = (name: string) => name.endsWith(".mjs") && !parts.includes(name);
  const programs = readdirSync(fileURLToPath(new URL(".", import.meta.url))).filter(own);
  it.each(programs)("stops %s before it does anything", (script) => {
    const { status, stdout, stderr } = runUnder("18.20.4", script);
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(stderr).toMatch(/^Troupe needs Node/);
  });
});
