// One configuration builds page, workers, service worker and the daemon's bundle, and runs the tests.

import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    environment: "node",
    include: ["{shared,server,workers,web,scripts}/**/*.test.{ts,tsx}"],
  },
});
