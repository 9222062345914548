import { describe, expect, it } from "vitest";
import { shareLink, takeEnrolment } from "./launch-link.ts";

function open(hash: string) {
  const replaced: string[] = [];
  const enrolment = takeEnrolment(
    { hash, pathname: "/s/abc", search: "?q" },
    { replaceState: (_state, _unused, url) => replaced.push(url) },
  );
  return { enrolment, replaced };
}

describe("takeEnrolment", () => {
  it("takes the secret and leaves an address without it", () => {
    expect(open("#enrol=QJrb_1uRbBMz7qDdm6Cl3g")).toEqual({
      enrolment: { kind: "launch", secret: "QJrb_1uRbBMz7qDdm6Cl3g" },
      replaced: ["/s/abc?q"],
    });
  });

  it("takes the secret of a link that shares a session, as one that lets in to read", () => {
    const { hash, pathname } = new URL(shareLink("http://127.0.0.1:4780", "abc", "QJrb_1uRbBM"));
    expect(pathname).toBe("/s/abc");
    expect(open(hash)).toEqual({
      enrolment: { kind: "share", secret: "QJrb_1uRbBM" },
      replaced: ["/s/abc?q"],
    });
  });

  it("leaves a link to a turn alone", () => {
    expect(open("#t12")).toEqual({ enrolment: null, replaced: [] });
  });

  it.each([
    "#enrol=",
    "#share=",
    "#enrol=a b",
    "#share=a&server=evil.example",
    `#enrol=${"a".repeat(129)}`,
  ])("cleans the address of %s but takes nothing from it", (hash) => {
    expect(open(hash)).toEqual({ enrolment: null, replaced: ["/s/abc?q"] });
  });
});
