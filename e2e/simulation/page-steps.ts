// What people may do at the pages of their devices.

import type { SessionId } from "../../shared/ids.ts";
import type { CommandMethod } from "../../shared/protocol/methods.ts";
import { long, one, somePage, somewhere } from "./choices.ts";
import { FOLDER } from "./simulated-daemon.ts";
import type { World } from "./world.ts";

const PAGES_MAX = 2;
const OPEN_MAX = 3;
const SESSIONS_MAX = 6;

export function prompt(world: World): string | null {
  const where = somewhere(world);
  if (where === null) return null;
  const { device, page, sessionId } = where;
  const commandId = world.freshCommandId();
  const text = `${commandId} ${world.random.oneIn(12) ? long(world, "p") : "please"}`;
  const params = { sessionId, text };
  world.issue(device, page, { commandId, method: "session.prompt", params });
  world.counts.prompts += 1;
  return `prompt ${commandId} in ${sessionId} by ${page.name}`;
}

export function create(world: World): string | null {
  const from = somePage(world);
  if (from === null || from.page.sessionIds.length >= SESSIONS_MAX) return null;
  const commandId = world.freshCommandId();
  const params = { workingDir: FOLDER };
  world.issue(from.device, from.page, { commandId, method: "session.create", params });
  // A session has the id of the command that makes it.
  const sessionId = commandId as string as SessionId;
  from.page.openSession(sessionId);
  return `create ${commandId} by ${from.page.name}`;
}

export function sessionCommand(world: World, method: CommandMethod, more: object): string | null {
  const where = somewhere(world);
  if (where === null) return null;
  const { device, page, sessionId } = where;
  const commandId = world.freshCommandId();
  world.issue(device, page, { commandId, method, params: { sessionId, ...more } });
  return `${method} ${commandId} in ${sessionId} by ${page.name}`;
}

export function openSession(world: World): string | null {
  const from = somePage(world);
  if (from === null || from.page.open.size >= OPEN_MAX) return null;
  const sessionId = one(
    world,
    from.page.sessionIds.filter((id) => !from.page.open.has(id)),
  );
  if (sessionId === null) return null;
  from.page.openSession(sessionId);
  return `open ${sessionId} at ${from.page.name}`;
}

export function closeSession(world: World): string | null {
  const from = somePage(world);
  const sessionId = from && one(world, [...from.page.open.keys()]);
  if (from === null || sessionId === null) return null;
  from.page.closeSession(sessionId);
  return `close ${sessionId} at ${from.page.name}`;
}

export function look(world: World): string | null {
  const from = somePage(world);
  if (from === null) return null;
  from.page.wake();
  return `look at ${from.page.name}`;
}

export function openPage(world: World): string | null {
  const device = one(world, world.devices);
  const worker = device && one(world, device.workers);
  if (worker === null || worker.pages.length >= PAGES_MAX) return null;
  return `open page ${worker.openPage().name}`;
}

export function closePage(world: World): string | null {
  const device = one(world, world.devices);
  const worker = device && one(world, device.workers);
  const page = worker && one(world, worker.pages);
  if (worker === null || page === null || worker.pages.length < 2) return null;
  worker.closePage(page);
  return `close page ${page.name}`;
}
