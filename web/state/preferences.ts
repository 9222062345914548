// Small facts this browser keeps for itself. A browser that forbids storage only forgets them.

export interface PreferenceStorage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
}

export interface Preferences {
  get(name: string): string | null;
  set(name: string, value: string): void;
}

const PREFIX = "troupe.";

/** `storage` throws where the browser forbids it, and `open` itself may. */
export function makePreferences(open: () => PreferenceStorage): Preferences {
  const held = new Map<string, string>();
  return {
    get(name) {
      try {
        return open().getItem(PREFIX + name) ?? held.get(name) ?? null;
      } catch {
        // Forbidden or full: this tab still remembers.
        return held.get(name) ?? null;
      }
    },
    set(name, value) {
      held.set(name, value);
      try {
        open().setItem(PREFIX + name, value);
      } catch {
        // As above.
      }
    },
  };
}
