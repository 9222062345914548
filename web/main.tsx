// The page's entry: takes a link's secret out of the address, starts the workers, shows the app.

import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/layout.css";
import "./styles/rail.css";
import "./styles/transcript.css";
import "./styles/prose.css";
import "./styles/composer.css";
import "./styles/surfaces.css";
import "./styles/narrow.css";
import "./styles/contrast.css";
import { render } from "solid-js/web";
import { createWorkersClient } from "../workers/client.ts";
import { App } from "./app.tsx";
import { loadAhead } from "./pages/ahead.ts";
import { nameDevice } from "./state/device-name.ts";
import { makeDialogs } from "./state/dialogs.ts";
import { takeEnrolment } from "./state/launch-link.ts";
import { makePreferences } from "./state/preferences.ts";
import { makeReadingPlaces } from "./state/reading-places.ts";
import { makeThemeChoice } from "./state/theme.ts";
import { makeUpdate, mayReloadAgain } from "./state/update.ts";
import { followVisibleHeight } from "./state/visible-height.ts";

// First of all: nothing that runs later may find the secret in the address.
const enrolment = takeEnrolment(location, history);
const client = createWorkersClient({
  enrolment,
  deviceName: nameDevice(navigator.userAgent),
});

// Such a link opened in a tab that already shows the app may only change the fragment.
addEventListener("hashchange", () => {
  const brought = takeEnrolment(location, history);
  if (brought !== null) client.enrol(brought);
});

/** `--paper` of each theme, for the bars of the browser around the page. Also in `/theme.js`. */
const PAPER = { light: "#fcfaf6", dark: "#161310" } as const;

const preferences = makePreferences(() => localStorage);
const reload = () => location.reload();
const workers = "serviceWorker" in navigator ? navigator.serviceWorker : null;
const update = makeUpdate(workers, reload);
const tools = {
  dialogs: makeDialogs(),
  preferences,
  places: makeReadingPlaces(preferences),
  themeChoice: makeThemeChoice(preferences, matchMedia("(prefers-color-scheme: dark)"), (theme) => {
    document.documentElement.dataset.theme = theme;
    document.querySelector('meta[name="theme-color"]')?.setAttribute("content", PAPER[theme]);
  }),
  update,
};

if (visualViewport) {
  followVisibleHeight(visualViewport, (height) => {
    document.documentElement.style.setProperty("--visible-height", `${height}px`);
  });
}

// Another tab let a new version take over, and with it went a part that this page had not loaded yet.
addEventListener("vite:preloadError", (event) => {
  // With no shell of its own a page that reloads while the daemon is away is lost altogether.
  if (!workers?.controller) return;
  if (!mayReloadAgain(sessionStorage, Date.now())) return;
  event.preventDefault();
  reload();
});

const root = document.getElementById("root");
if (!root) throw new Error("index.html has no element with the id root");
render(() => <App client={client} tools={tools} />, root);

/** Installing fetches the whole app: it does not compete with what is looked at first. */
const INSTALL_DELAY_MS = 2_000;
const install = () => {
  void update.register();
  // What cannot be had now is tried again when it is needed.
  if (workers === null) loadAhead().catch(() => {});
};
if (import.meta.env.PROD) {
  addEventListener("load", () => setTimeout(install, INSTALL_DELAY_MS), { once: true });
}
