// What people may do about who sees what: links given, opened and taken back, devices sent away and let
// in again.

import { one, somePage } from "./choices.ts";
import type { World } from "./world.ts";

const LINKS_MAX = 4;
const VIEWERS_MAX = 2;

export function share(world: World): string | null {
  const from = somePage(world);
  const sessionId = from && one(world, from.page.sessionIds);
  if (from === null || sessionId === null || world.links.length >= LINKS_MAX) return null;
  const { shareId } = world.makeLink(sessionId);
  const commandId = world.freshCommandId();
  const params = { sessionId, shareId, days: world.random.pick([null, null, 1]) };
  world.issue(from.device, from.page, { commandId, method: "share.create", params });
  return `share ${sessionId} as ${shareId} by ${from.page.name}`;
}

/** Somebody new, or someone who reads already, opens a link. */
export function openLink(world: World): string | null {
  const link = one(world, world.links);
  if (link === null) return null;
  const { sessionId, secret, shareId } = link;
  const enrolment = { kind: "share", secret } as const;
  world.counts.links += 1;
  if (world.viewers < VIEWERS_MAX && world.random.oneIn(2)) {
    const device = world.addDevice(0, "shared");
    world.viewers += 1;
    device.links.add(sessionId);
    device.startWorker().openPage(enrolment);
    return `open the link ${shareId} on ${device.name}`;
  }
  const from = somePage(world);
  if (from === null) return null;
  from.device.links.add(sessionId);
  from.page.enrol(enrolment);
  return `open the link ${shareId} at ${from.page.name}`;
}

export function takeLinkBack(world: World): string | null {
  const from = somePage(world);
  const link = from && one(world, world.links);
  if (from === null || link === null) return null;
  const { sessionId, shareId } = link;
  const commandId = world.freshCommandId();
  const params = { sessionId, shareId };
  world.issue(from.device, from.page, { commandId, method: "share.revoke", params });
  return `take back ${shareId} by ${from.page.name}`;
}

export function sendAway(world: World): string | null {
  const from = somePage(world);
  const device = one(
    world,
    world.devices.filter((each) => each !== from?.device),
  );
  if (from === null || device === null || device.id === null) return null;
  const commandId = world.freshCommandId();
  const params = { deviceId: device.id };
  world.issue(from.device, from.page, { commandId, method: "device.revoke", params });
  return `revoke ${device.name} by ${from.page.name}`;
}

/** A launch link makes whoever opens it an owner. */
export function letIn(world: World): string | null {
  const secret = world.daemon?.launchSecret();
  const device = one(
    world,
    world.devices.filter(({ pages }) => pages.some(({ isTurnedAway }) => isTurnedAway)),
  );
  const page = device && one(world, device.pages);
  if (secret === undefined || page === null) return null;
  page.enrol({ kind: "launch", secret });
  return `let ${page.name} in`;
}
