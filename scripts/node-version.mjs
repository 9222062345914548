// Stops with a plain sentence where Node is too old. Imported before anything newer is used.

const LEAST = [20, 19];

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < LEAST[0] || (major === LEAST[0] && minor < LEAST[1])) {
  process.stderr.write(
    `Troupe needs Node ${LEAST.join(".")} or newer; this is Node ${process.versions.node}.\n` +
      "Get a newer one from https://nodejs.org or your system's packages.\n",
  );
  process.exit(1);
}
