// A state as a small mark. Never alone: words beside it say the same.

export type DotKind = "ok" | "live" | "ask" | "idle" | "bad" | "wait";

export function Dot(props: { kind: DotKind }) {
  return <i class={`dot ${props.kind}`} aria-hidden="true" />;
}
