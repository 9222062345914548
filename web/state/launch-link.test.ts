import { describe, expect, it } from "vitest";
import { takeEnrolment } from "./launch-link.ts";

function open(hash: string) {
  const replaced: string[] = [];
  const secret = takeEnrolment(
    { hash, pathname: "/s/abc", search: "?q" },
    { replaceState: (_state, _unused, url) => replaced.push(url) },
  );
  return { secret, replaced };
}

describe("takeEnrolment", () => {
  it("takes the secret and leaves an address without it", () => {
    expect(open("#enrol=QJrb_1uRbBMz7qDdm6Cl3g")).toEqual({
      secret: "QJrb_1uRbBMz7qDdm6Cl3g",
      replaced: ["/s/abc?q"],
    });
  });

  it("leaves a link to a turn alone", () => {
    expect(open("#t12")).toEqual({ secret: null, replaced: [] });
  });

  it.each(["#enrol=", "#enrol=a b", "#enrol=a&server=evil.example", `#enrol=${"a".repeat(129)}`])(
    "cleans the address of %s but takes nothing from it",
    (hash) => {
      expect(open(hash)).toEqual({ secret: null, replaced: ["/s/abc?q"] });
    },
  );
});
