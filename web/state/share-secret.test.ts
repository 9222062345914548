import { expect, it } from "vitest";
import { methods } from "../../shared/protocol/methods.ts";
import { sessionId } from "../testing/rows.ts";
import { makeShareSecret, shareIdOf } from "./share-secret.ts";

it("names a link by the beginning of its secret's SHA-256, as the daemon does", () => {
  // printf %s QJrb_1uRbBMz7qDdm6Cl3g | sha256sum | head -c 32 | xxd -r -p | base64
  expect(shareIdOf("QJrb_1uRbBMz7qDdm6Cl3g")).toBe("9UU97Tf700q90A-nEjHSLA");
});

it("makes a secret of 128 bits and an id that the method takes", () => {
  const { secret, shareId } = makeShareSecret((length) => new Uint8Array(length).fill(7));
  expect(secret).toBe("BwcHBwcHBwcHBwcHBwcHBw");
  const params = { sessionId: sessionId(1), shareId, days: 7 };
  expect(methods["share.create"].params.safeParse(params).success).toBe(true);
});
