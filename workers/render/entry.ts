// The render worker's composition root: one per page.

import { workerClock } from "../clock.ts";
import type { RenderInput, RenderRequest } from "./port.ts";
import { RenderDesk } from "./render-desk.ts";

const isDedicated = (worker: object): worker is DedicatedWorkerGlobalScope =>
  "postMessage" in worker;

function serve(scope: DedicatedWorkerGlobalScope): void {
  const desk = new RenderDesk(workerClock, (message) => scope.postMessage(message));
  let syncPort: MessagePort | null = null;
  scope.onmessage = ({ data }: MessageEvent<RenderRequest>) => {
    if (data.type !== "attach") {
      desk.request(data);
      return;
    }
    syncPort?.close();
    syncPort = data.syncPort;
    syncPort.onmessage = ({ data: input }: MessageEvent<RenderInput>) => desk.input(input);
  };
}

if (isDedicated(self)) serve(self);
