// Says what is wrong with a value that a schema refused: field by field, never quoting the value.

import type * as z from "zod/mini";

const ISSUES_SHOWN_MAX = 5;

export function describeIssues(issues: readonly z.core.$ZodIssue[]): string {
  const shown = issues.slice(0, ISSUES_SHOWN_MAX).map((issue) => {
    const field = issue.path.map(String).join(".");
    return field === "" ? wording(issue) : `${field}: ${wording(issue)}`;
  });
  const left = issues.length - shown.length;
  return shown.join("; ") + (left > 0 ? `; and ${left} more` : "");
}

function wording(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return `expected ${issue.expected}`;
    case "too_big":
      return `must be at most ${issue.maximum}${issue.origin === "string" ? " characters" : ""}`;
    case "too_small":
      return `must be at least ${issue.minimum}${issue.origin === "string" ? " characters" : ""}`;
    case "invalid_value":
      return `must be one of ${issue.values.map(String).join(", ")}`;
    case "invalid_format":
      return "has the wrong form";
    default:
      return "is not as the schema says";
  }
}
