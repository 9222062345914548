// Stops with a plain sentence where Node is too old. Imported before anything newer is used.

const LEAST = { major: 20, minor: 19 };

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < LEAST.major || (major === LEAST.major && minor < LEAST.minor)) {
  process.stderr.write(
    `Troupe needs Node ${LEAST.major}.${LEAST.minor} or newer; this is Node ${process.versions.node}.\n` +
      "Get a newer one from https://nodejs.org or your system's packages.\n",
  );
  process.exit(1);
}
