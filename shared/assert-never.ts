/** Ends every `switch` on a union: compiling fails when a case is missing, running fails loudly. */
export function assertNever(value: never): never {
  throw new Error(`Unexpected value: ${JSON.stringify(value)}`);
}
