// A map with names of its own choosing, checked value by value.

import * as z from "zod/mini";

export const recordOf = <T>(isValue: (value: unknown) => value is T) =>
  z.custom<Record<string, T>>(
    (map) =>
      typeof map === "object" &&
      map !== null &&
      !Array.isArray(map) &&
      Object.values(map).every(isValue),
  );
