// Stands in for the daemon's list of providers in a measurement: one model that says nothing but the time.

const SLUG = "bench";
export const STAMPING_MODEL = `${SLUG}/stamps`;
/** About as often as a fast model's chunks come. */
const EVERY_MS = 10;

/** By a clock that all processes of a machine share. */
export const nowMs = () => Number(process.hrtime.bigint()) / 1e6;

export const makeProviders = () => [
  {
    slug: SLUG,
    models: async () => [{ id: STAMPING_MODEL, name: "Stamps", description: "Says the time." }],
    stream: sayTheTime,
  },
];

/** For as many milliseconds as the prompt says. */
async function* sayTheTime({ messages }, signal) {
  const prompt = messages.findLast(({ role }) => role === "user")?.text;
  for (const end = nowMs() + Number(prompt); nowMs() < end && !signal.aborted; ) {
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    yield { type: "answer", text: `${nowMs().toFixed(3)}\n` };
  }
  if (!signal.aborted) yield { type: "done", reason: "stop" };
}
