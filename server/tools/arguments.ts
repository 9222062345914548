// A tool's parameters as a schema for the model, and the model's arguments checked against them.

import * as z from "zod/mini";
import { describeIssues } from "../../shared/model/describe-issues.ts";
import type { Tool } from "./tool.ts";

export interface ToolSchemaForModel {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments, as the model writes them: what has a default may be left out. */
  readonly parameters: Record<string, unknown>;
}

export function toolSchemas(tools: readonly Tool[]): ToolSchemaForModel[] {
  return tools.map((tool) => {
    const { $schema: _, ...schema } = z.toJSONSchema(tool.parameters, { io: "input" });
    return {
      name: tool.name,
      description: tool.description,
      parameters: { ...schema, additionalProperties: false },
    };
  });
}

export type CheckedArguments = { ok: true; args: unknown } | { ok: false; message: string };

/** `text`: JSON as the model wrote it; nothing at all stands for no arguments. */
export function checkArguments(tool: Tool, text: string): CheckedArguments {
  let json: unknown;
  try {
    json = text.trim() === "" ? {} : JSON.parse(text);
  } catch {
    return { ok: false, message: `The arguments of ${tool.name} are not valid JSON.` };
  }
  const parsed = tool.parameters.safeParse(json);
  if (parsed.success) return { ok: true, args: parsed.data };
  return {
    ok: false,
    message: `The arguments of ${tool.name} are not as its schema says. ${describeIssues(parsed.error.issues)}`,
  };
}
