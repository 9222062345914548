// What travels inside the Noise handshake. The client's introduction is the payload of its last
// handshake message (XX: message 3, IK: message 1), so it is encrypted to the daemon's key. The
// daemon's admission is the first transport message it sends; after a refusal it closes.

import * as z from "zod/mini";
import { wireErrorSchema } from "./errors.ts";
import { deviceIdSchema, ROLES } from "./rows.ts";

/** First byte of the first frame; the rest of that frame is Noise message 1. */
export const MODE_IK = 0x01;
export const MODE_XX = 0x02;

export const introductionSchema = z.object({
  /** Protocol versions the client speaks. */
  versions: z.array(z.int()).check(z.maxLength(16)),
  appVersion: z.string().check(z.maxLength(64)),
  /** What the device calls itself, e.g. "Chromium on Linux". */
  deviceName: z.string().check(z.maxLength(200)),
  /** Wanted when the daemon does not know this device's key yet. */
  enrolment: z.nullable(
    z.object({
      /** `share`: lets the device in as a viewer of one session. */
      kind: z.enum(["launch", "share"]),
      secret: z.string().check(z.maxLength(128)),
    }),
  ),
});
export type Introduction = z.infer<typeof introductionSchema>;

export const admissionSchema = z.discriminatedUnion("outcome", [
  z.object({
    outcome: z.literal("admitted"),
    version: z.int(),
    deviceId: deviceIdSchema,
    role: z.enum(ROLES),
  }),
  z.object({ outcome: z.literal("refused"), error: wireErrorSchema }),
]);
export type Admission = z.infer<typeof admissionSchema>;

/** The body of `/identity`, as JSON. `publicKey` is base64url. */
export const identitySchema = z.object({
  name: z.string(),
  version: z.string(),
  protocol: z.int(),
  publicKey: z.string(),
  fingerprint: z.string(),
});
export type Identity = z.infer<typeof identitySchema>;
