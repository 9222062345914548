// One line for a run of quiet tool calls.

import { count, counted } from "./times.ts";
import type { ShownCall } from "./transcript-items.ts";

type Call = Pick<ShownCall, "name" | "description">;

/** What each tool that only looks is about. */
const LOOKING: Readonly<Record<string, "file" | "folder" | "search" | "count">> = {
  read_file: "file",
  list_files: "folder",
  grep: "search",
  line_count: "count",
};

const times = (amount: number): string => {
  if (amount === 1) return "once";
  return amount === 2 ? "twice" : `${count(amount)} times`;
};

/** A call's description names what it is about first of all: "Read `a.ts` lines 1–9". */
const subject = ({ description }: Call): string => /`[^`]*`/.exec(description)?.[0] ?? description;

const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** "Explored 9 files and 2 folders, searched twice"; with tools that do more, "Ran 4 tools". */
export function foldedWords(calls: readonly Call[]): string {
  const of = (kind: string) => calls.filter(({ name }) => LOOKING[name] === kind);
  const different = (kind: string) => new Set(of(kind).map(subject)).size;
  if (calls.some(({ name }) => LOOKING[name] === undefined)) {
    return `Ran ${counted(calls.length, "tool")}`;
  }
  const explored = ["file", "folder"]
    .filter((place) => different(place) > 0)
    .map((place) => counted(different(place), place));
  const parts = [
    ...(explored.length > 0 ? [`explored ${explored.join(" and ")}`] : []),
    ...(of("search").length > 0 ? [`searched ${times(of("search").length)}`] : []),
    ...(of("count").length > 0 ? [`counted lines ${times(of("count").length)}`] : []),
  ];
  return sentence(parts.join(", "));
}
