// The tools there are. One line per tool; nothing else names them.

import { grep } from "./grep.ts";
import { lineCount } from "./line-count.ts";
import { listFiles } from "./list-files.ts";
import { readFile } from "./read-file.ts";
import type { Tool } from "./tool.ts";

export const tools: readonly Tool[] = [listFiles, readFile, grep, lineCount];
