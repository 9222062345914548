// The page's entry: takes the launch link out of the address, starts the workers, shows the app.

import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/layout.css";
import "./styles/rail.css";
import "./styles/transcript.css";
import "./styles/prose.css";
import "./styles/composer.css";
import "./styles/surfaces.css";
import "./styles/narrow.css";
import { render } from "solid-js/web";
import { createWorkersClient } from "../workers/client.ts";
import { App } from "./app.tsx";
import { nameDevice } from "./state/device-name.ts";
import { makeDialogs } from "./state/dialogs.ts";
import { takeEnrolment } from "./state/launch-link.ts";
import { makePreferences } from "./state/preferences.ts";
import { makeReadingPlaces } from "./state/reading-places.ts";
import { makeThemeChoice } from "./state/theme.ts";
import { makeUpdate } from "./state/update.ts";
import { followVisibleHeight } from "./state/visible-height.ts";

// First of all: nothing that runs later may find the secret in the address.
const enrolment = takeEnrolment(location, history);
const client = createWorkersClient({
  enrolment,
  deviceName: nameDevice(navigator.userAgent),
});

// A launch link opened in a tab that already shows the app only changes the fragment.
addEventListener("hashchange", () => {
  const secret = takeEnrolment(location, history);
  if (secret !== null) client.enrol(secret);
});

const preferences = makePreferences(() => localStorage);
const update = makeUpdate();
const tools = {
  dialogs: makeDialogs(),
  preferences,
  places: makeReadingPlaces(preferences),
  themeChoice: makeThemeChoice(preferences, matchMedia("(prefers-color-scheme: dark)"), (theme) => {
    document.documentElement.dataset.theme = theme;
  }),
  update,
};

if (visualViewport) {
  followVisibleHeight(visualViewport, (height) => {
    document.documentElement.style.setProperty("--visible-height", `${height}px`);
  });
}

const root = document.getElementById("root");
if (!root) throw new Error("index.html has no element with the id root");
render(() => <App client={client} tools={tools} />, root);

/** Installing fetches the whole app: it does not compete with what is looked at first. */
const INSTALL_DELAY_MS = 2_000;
if (import.meta.env.PROD) {
  const install = () => setTimeout(() => void update.register(), INSTALL_DELAY_MS);
  addEventListener("load", install, { once: true });
}
