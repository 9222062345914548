// Times and amounts in words. Pure: "now" is an argument.

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

// Made once: each takes as long as wording a thousand times with it.
const WEEKDAY = new Intl.DateTimeFormat("en-US", { weekday: "short" });
const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const DAY_OF_YEAR = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  year: "numeric",
});
const EXACT = new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeStyle: "medium" });
const CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const COUNT = new Intl.NumberFormat("en-US");

export function startOfDay(at: number): number {
  const day = new Date(at);
  day.setHours(0, 0, 0, 0);
  return day.getTime();
}

/** For the rail: "now", "2m", "1h", "Tue", "12 Mar", "12 Mar 2024". */
export function shortAge(at: number, now: number): string {
  const age = now - at;
  if (age < MINUTE_MS) return "now";
  if (age < HOUR_MS) return `${Math.floor(age / MINUTE_MS)}m`;
  if (at >= startOfDay(now)) return `${Math.floor(age / HOUR_MS)}h`;
  if (age < 6 * DAY_MS) return WEEKDAY.format(at);
  const sameYear = new Date(at).getFullYear() === new Date(now).getFullYear();
  return (sameYear ? DAY : DAY_OF_YEAR).format(at);
}

/** In a sentence: "just now", "2 s ago", "4 min ago", "3 h ago", "5 days ago". */
export function ago(at: number, now: number): string {
  const age = Math.max(0, now - at);
  if (age < SECOND_MS) return "just now";
  if (age < MINUTE_MS) return `${Math.floor(age / SECOND_MS)} s ago`;
  if (age < HOUR_MS) return `${Math.floor(age / MINUTE_MS)} min ago`;
  if (age < DAY_MS) return `${Math.floor(age / HOUR_MS)} h ago`;
  const days = Math.floor(age / DAY_MS);
  return days === 1 ? "yesterday" : `${days} days ago`;
}

/** What is left, roughly: "1 min", "3 h", "5 days". */
export function timeLeft(until: number, now: number): string {
  const left = Math.max(0, until - now);
  if (left < HOUR_MS) return `${Math.round(left / MINUTE_MS)} min`;
  if (left < 2 * DAY_MS) return `${Math.round(left / HOUR_MS)} h`;
  return counted(Math.round(left / DAY_MS), "day");
}

/** For what still runs: "7 s", "3 min 5 s". */
export function elapsed(ms: number): string {
  if (ms < MINUTE_MS) return `${Math.floor(Math.max(0, ms) / SECOND_MS)} s`;
  return duration(ms);
}

/** "38 ms", "1.2 s", "21.4 s", "3 min 5 s". */
export function duration(ms: number): string {
  if (ms < SECOND_MS) return `${Math.round(ms)} ms`;
  if (ms < MINUTE_MS) return `${(ms / SECOND_MS).toFixed(1)} s`;
  const minutes = Math.floor(ms / MINUTE_MS);
  return `${minutes} min ${Math.floor((ms % MINUTE_MS) / SECOND_MS)} s`;
}

export function exactTime(at: number): string {
  return EXACT.format(at);
}

export function clockTime(at: number): string {
  return CLOCK.format(at);
}

export function count(amount: number): string {
  return COUNT.format(amount);
}

/** "1 file", "3 files". */
export function counted(amount: number, one: string, many = `${one}s`): string {
  return `${count(amount)} ${amount === 1 ? one : many}`;
}
