import { describe, expect, it } from "vitest";
import { altShortcut } from "./shortcuts.ts";

describe("altShortcut", () => {
  it("names the key as the keyboard in front of the person does", () => {
    expect(altShortcut("N", "Linux x86_64")).toBe("Alt N");
    expect(altShortcut("N", "Win32")).toBe("Alt N");
    expect(altShortcut("N", "MacIntel")).toBe("⌥N");
    expect(altShortcut("↑", "iPad")).toBe("⌥↑");
  });
});
