// The providers there are. One line per provider; nothing else names them.

import type { Clock } from "../clock.ts";
import { makeGuide } from "./guide/guide.ts";
import type { Provider } from "./provider.ts";

/** The first one's first model is what a session gets that names none. */
export const makeProviders = (clock: Clock): readonly Provider[] => [makeGuide(clock)];
