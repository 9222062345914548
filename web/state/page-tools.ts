// What the pages share besides the workbench: dialogs, theme, updates and this browser's memory.

import { createContext, useContext } from "solid-js";
import type { Dialogs } from "./dialogs.ts";
import type { Preferences } from "./preferences.ts";
import type { ReadingPlaces } from "./reading-places.ts";
import type { ThemeChoice } from "./theme.ts";
import type { Update } from "./update.ts";

export interface PageTools {
  readonly dialogs: Dialogs;
  readonly preferences: Preferences;
  readonly places: ReadingPlaces;
  readonly themeChoice: ThemeChoice;
  readonly update: Update;
}

const PageToolsContext = createContext<PageTools>();
export const PageToolsProvider = PageToolsContext.Provider;

export function usePageTools(): PageTools {
  const tools = useContext(PageToolsContext);
  if (!tools) throw new Error("usePageTools was called outside PageToolsProvider");
  return tools;
}
