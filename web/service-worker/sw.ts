// Keeps the app's shell on the device, so that a link to a session opens without the daemon. Data is
// not its affair: it never touches the socket, /identity or the health pages. A new version waits
// until the page asks it to take over.

import {
  cleanupOutdatedCaches,
  createHandlerBoundToURL,
  precacheAndRoute,
} from "workbox-precaching";
import { NavigationRoute, registerRoute } from "workbox-routing";

declare const self: ServiceWorkerGlobalScope & {
  // Filled in by the build.
  __WB_MANIFEST: { url: string; revision: string | null }[];
};

precacheAndRoute(self.__WB_MANIFEST);
cleanupOutdatedCaches();

registerRoute(
  new NavigationRoute(createHandlerBoundToURL("/index.html"), {
    allowlist: [/^\/$/, /^\/s\/[^/]+\/?$/, /^\/settings(\/|$)/],
  }),
);

self.addEventListener("message", (event) => {
  const { data } = event;
  if (typeof data === "object" && data !== null && data.type === "SKIP_WAITING") {
    void self.skipWaiting();
  }
});
