import { describe, expect, it } from "vitest";
import { type Command, helpText, parseCommand, type ServeOptions } from "./arguments.ts";
import { type Surroundings, socketPath } from "./folders.ts";

const surroundings = (env: Record<string, string> = {}): Surroundings => ({
  env,
  homeDir: "/home/ada",
  tempDir: "/tmp",
  uid: 1000,
  cwd: "/srv/here",
});

function serve(argv: readonly string[], env: Record<string, string> = {}): ServeOptions {
  const command = parseCommand(argv, surroundings(env));
  if (command.kind !== "serve") throw new Error(`not serve: ${JSON.stringify(command)}`);
  return command.options;
}

const mistake = (argv: readonly string[], env: Record<string, string> = {}): Command =>
  parseCommand(argv, surroundings(env));

describe("the command line", () => {
  it("serves on loopback with XDG folders when told nothing", () => {
    expect(serve([])).toEqual({
      port: 4780,
      host: "127.0.0.1",
      dataDir: "/home/ada/.local/share/troupe",
      configDir: "/home/ada/.config/troupe",
      socketPath: expect.stringMatching(/^\/home\/ada\/.local\/state\/troupe\/[0-9a-f]{16}\.sock$/),
      open: true,
      logLevel: "warn",
      logFile: null,
    });
    expect(serve(["serve"])).toEqual(serve([]));
  });

  it("takes every setting from a flag", () => {
    const argv = ["serve", "--port", "0", "--host=Box.local", "--data-dir", "d", "--config-dir"];
    const options = serve([...argv, "/c", "--no-open", "--log-level", "debug", "--log-file", "l"]);
    expect(options).toMatchObject({ port: 0, host: "box.local", dataDir: "/srv/here/d" });
    expect(options).toMatchObject({ configDir: "/c", open: false, logLevel: "debug" });
    expect(options.logFile).toBe("/srv/here/l");
  });

  it("takes every setting from its variable, and the flag wins", () => {
    const env = {
      TROUPE_PORT: "5000",
      TROUPE_HOST: "::1",
      TROUPE_DATA_DIR: "/d",
      TROUPE_CONFIG_DIR: "/c",
      TROUPE_NO_OPEN: "1",
      TROUPE_LOG_LEVEL: "error",
      TROUPE_LOG_FILE: "/l",
    };
    const { socketPath: _, ...options } = serve([], env);
    expect(options).toEqual({
      port: 5000,
      host: "::1",
      dataDir: "/d",
      configDir: "/c",
      open: false,
      logLevel: "error",
      logFile: "/l",
    });
    expect(serve(["--port", "6000"], env).port).toBe(6000);
  });

  it.each(["", "0", "false", "no"])("reads TROUPE_NO_OPEN=%j as off", (value) => {
    expect(serve([], { TROUPE_NO_OPEN: value }).open).toBe(true);
  });

  it("treats an empty variable as not set", () => {
    expect(serve([], { TROUPE_PORT: "", TROUPE_DATA_DIR: "" })).toEqual(serve([]));
  });

  it("honours XDG folders and ignores relative ones", () => {
    const env = {
      XDG_DATA_HOME: "/x/data",
      XDG_CONFIG_HOME: "relative",
      XDG_RUNTIME_DIR: "/run/u",
    };
    const options = serve([], env);
    expect(options.dataDir).toBe("/x/data/troupe");
    expect(options.configDir).toBe("/home/ada/.config/troupe");
    expect(options.socketPath).toMatch(/^\/run\/u\/troupe\//);
  });

  it("knows link, help and version", () => {
    expect(parseCommand(["link", "--data-dir", "/d"], surroundings())).toMatchObject({
      kind: "link",
      options: { dataDir: "/d" },
    });
    expect(parseCommand(["--help"], surroundings())).toEqual({ kind: "help" });
    expect(parseCommand(["link", "-h"], surroundings())).toEqual({ kind: "help" });
    expect(parseCommand(["-v"], surroundings())).toEqual({ kind: "version" });
  });

  it.each([
    [["--prot", "1"], "--prot"],
    [["--port"], "--port"],
    [["--port", "http"], '--port must be a number from 0 to 65535, not "http"'],
    [["--data-dir", ""], "--data-dir is empty"],
    [["link", "--data-dir="], "--data-dir is empty"],
    [["--port", "65536"], "65535"],
    [["--port=-1"], '"-1"'],
    [["--host", "a b"], '"a b"'],
    [["--log-level", "loud"], '"loud"'],
    [["--no-open=yes"], "--no-open"],
    [["sevre"], '"sevre"'],
    [["serve", "now"], '"now"'],
  ])("words the mistake in %j", (argv, quoted) => {
    expect(mistake(argv)).toEqual({ kind: "mistake", message: expect.stringContaining(quoted) });
  });

  it.each([
    ["TROUPE_PORT", "http"],
    ["TROUPE_HOST", "a b"],
    ["TROUPE_LOG_LEVEL", "loud"],
  ])("says that the mistake is in %s", (variable, value) => {
    expect(mistake([], { [variable]: value })).toEqual({
      kind: "mistake",
      message: expect.stringMatching(`^${variable} must be .*"${value}"`),
    });
  });

  it("explains every flag and its variable", () => {
    for (const name of ["--port", "--log-file", "TROUPE_NO_OPEN", "troupe link", "--version"]) {
      expect(helpText()).toContain(name);
    }
  });

  it("lines up what it explains", () => {
    const lines = helpText().match(/^ {2}-.*/gm) ?? [];
    expect(lines).toHaveLength(9);
    for (const line of lines) expect(line).toMatch(/^ {2}-.{22} \S/);
  });
});

describe("the Unix socket's path", () => {
  it("differs between data folders and is stable for one", () => {
    const here = surroundings();
    expect(socketPath(here, "/a")).toBe(socketPath(here, "/a"));
    expect(socketPath(here, "/a")).not.toBe(socketPath(here, "/b"));
  });

  it("never exceeds the 107 bytes of a socket address", () => {
    const env = { XDG_RUNTIME_DIR: `/${"ü".repeat(60)}` };
    const path = socketPath(surroundings(env), "/a");
    expect(path).toMatch(/^\/tmp\/troupe-1000\/[0-9a-f]{16}\.sock$/);
  });
});
