// Restores, follows and keeps the reading place, and fetches what is above as it is neared.

import { createEffect, on, onCleanup, onMount } from "solid-js";
import type { SessionId } from "../../../shared/ids.ts";
import type { Opened } from "../../state/live-facts.ts";
import { usePageTools } from "../../state/page-tools.ts";
import type { ReadingPlace } from "../../state/reading-places.ts";
import { useWorkbench } from "../../state/workbench.ts";
import { createScrollKeeper, type ScrollKeeper } from "./scroll-keeper.ts";

export interface PlaceOptions {
  readonly sessionId: SessionId;
  /** Of the requests on screen, in order. */
  readonly ids: () => readonly string[];
  /** The turn the address points at. */
  readonly markedTurn: () => number | null;
}

type Wanted = { kind: "turn"; turnId: number } | { kind: "place"; place: ReadingPlace };

/** False while it is not on screen yet. */
function reach(keeper: ScrollKeeper, wanted: Wanted): boolean {
  if (wanted.kind === "place") return keeper.toPlace(wanted.place);
  const request = document.getElementById(`t${wanted.turnId}`)?.closest("[data-request]");
  if (request) keeper.toElement(request);
  return request !== null && request !== undefined;
}

const turnWanted = (turnId: number | null): Wanted | null =>
  turnId === null ? null : { kind: "turn", turnId };
const placeWanted = (place: ReadingPlace | null): Wanted | null =>
  place === null ? null : { kind: "place", place };

/** Asks once per answer: `opened` is another object each time. */
function makeFetchEarlier(opened: () => Opened | null, ask: () => void): () => void {
  let askedAt: Opened | null = null;
  return () => {
    const state = opened();
    if (!state?.hasEarlier || askedAt === state) return;
    askedAt = state;
    ask();
  };
}

export function createPlaceKeeping({ sessionId, ids, markedTurn }: PlaceOptions) {
  const workbench = useWorkbench();
  const { places } = usePageTools();
  const elements: { scroller?: HTMLElement; content?: HTMLElement } = {};
  const opened = () => workbench.opened(sessionId);
  const fetchEarlier = makeFetchEarlier(opened, () => workbench.client.earlier(sessionId));

  // What is still to be reached, while earlier requests come in.
  let wanted = turnWanted(markedTurn()) ?? placeWanted(places.find(sessionId));

  /** True: what was being read is not on screen any more. */
  const isLost = () => !keeper.isAtEnd() && keeper.place() === null;
  const keep = (place: ReadingPlace | null) => {
    if (wanted === null && !isLost()) places.keep(sessionId, place);
  };
  const keeper = createScrollKeeper({ onNearTop: fetchEarlier, onSettled: keep });

  const goToWanted = () => {
    if (wanted !== null) {
      // Nothing earlier and still not there: it is gone, the end will do.
      const state = opened();
      const isAllHere = state?.isWhole && !state.hasEarlier;
      if (reach(keeper, wanted) || isAllHere) wanted = null;
      else fetchEarlier();
    }
    // Too little to scroll: what is earlier would never be neared.
    if (keeper.isNearTop()) fetchEarlier();
  };

  onMount(() => {
    if (!elements.scroller || !elements.content) return;
    keeper.attach(elements.scroller, elements.content);
    keeper.toEnd();
    createEffect(on(opened, goToWanted));
    const onEarlier = () => {
      // The rows were given anew, the last of them first: back to where the reader was.
      if (isLost()) wanted ??= placeWanted(places.find(sessionId));
      keeper.hold();
      goToWanted();
    };
    createEffect(on(() => ids()[0], onEarlier, { defer: true }));
    const onMark = (turnId: number | null) => {
      wanted = turnWanted(turnId);
      goToWanted();
    };
    createEffect(on(markedTurn, onMark, { defer: true }));
  });
  onCleanup(() => keep(keeper.place()));

  return {
    keeper,
    hasEarlier: () => opened()?.hasEarlier ?? false,
    attach: {
      scroller: (element: HTMLElement) => {
        elements.scroller = element;
      },
      content: (element: HTMLElement) => {
        elements.content = element;
      },
    },
  };
}
