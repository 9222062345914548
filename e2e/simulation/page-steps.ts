// What people may do at the pages of their devices.

import type { SessionId } from "../../shared/ids.ts";
import type { CommandMethod } from "../../shared/protocol/methods.ts";
import type { OutboxEntry } from "../../workers/sync/port.ts";
import { long, one, somePage, somewhere } from "./choices.ts";
import { FOLDER } from "./simulated-daemon.ts";
import type { World } from "./world.ts";

const PAGES_MAX = 2;
const TABS_MAX = 3;
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

/** Someone sees a session there, or nothing. */
export function see(world: World): string | null {
  const from = somePage(world);
  if (from === null) return null;
  const sessionId = world.random.oneIn(4) ? null : one(world, [...from.page.open.keys()]);
  from.page.look(sessionId);
  return `see ${sessionId} at ${from.page.name}`;
}

/** A prompt that may wait still gets another text. */
export function amend(world: World): string | null {
  const from = someEntry(
    world,
    ({ method, state }) => method === "session.prompt" && state !== "refused",
  );
  if (from === null) return null;
  const { page, issued } = from;
  const text = `${issued.commandId} amended ${world.counts.steps}`;
  const params = { ...issued.params, text };
  issued.maySay.add(text);
  page.amend(issued.commandId, params, () => {
    issued.params = params;
    issued.maySay.clear();
    world.counts.amended += 1;
  });
  return `amend ${issued.commandId} at ${page.name}`;
}

/** What may wait still is taken back, or what was refused is put away. */
export function withdraw(world: World): string | null {
  const from = someEntry(world, () => true);
  if (from === null) return null;
  const { page, issued } = from;
  issued.isGivenUp = true;
  page.withdraw(issued.commandId, () => {
    issued.isWithdrawn = true;
    world.counts.withdrawn += 1;
  });
  return `withdraw ${issued.commandId} at ${page.name}`;
}

function someEntry(world: World, isWanted: (entry: OutboxEntry) => boolean) {
  const from = somePage(world);
  const entry = from && one(world, from.page.outbox.filter(isWanted));
  const issued = entry && world.commands.get(entry.commandId);
  return from && issued ? { ...from, issued } : null;
}

export function openPage(world: World): string | null {
  const device = one(world, world.devices);
  if (device?.kind === "elected") {
    if (device.workers.length >= TABS_MAX) return null;
    return `open page ${device.startWorker().openPage().name}`;
  }
  const worker = device && one(world, device.workers);
  if (worker === null || worker.pages.length >= PAGES_MAX) return null;
  return `open page ${worker.openPage().name}`;
}

export function closePage(world: World): string | null {
  const device = one(world, world.devices);
  const worker = device && one(world, device.workers);
  const page = worker && one(world, worker.pages);
  if (device === null || worker === null || page === null || device.pages.length < 2) return null;
  worker.closePage(page);
  // A tab takes its own worker with it.
  if (device.kind !== "shared" && worker.pages.length === 0) {
    device.killWorker(worker);
    world.excuseUnstored(device);
  }
  return `close page ${page.name}`;
}
