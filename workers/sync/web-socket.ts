// The browser's WebSocket as the link wants it.

import { SUBPROTOCOL } from "../../shared/protocol/version.ts";
import type { OpenSocket } from "./link.ts";

export const makeOpenSocket =
  (url: string): OpenSocket =>
  (listener) => {
    const socket = new WebSocket(url, SUBPROTOCOL);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => listener.opened();
    socket.onmessage = ({ data }: MessageEvent<unknown>) => {
      if (data instanceof ArrayBuffer) listener.received(new Uint8Array(data));
      else socket.close();
    };
    socket.onclose = () => listener.closed();
    return {
      send: (frame) => socket.send(frame),
      close: () => {
        socket.onopen = socket.onmessage = socket.onclose = null;
        socket.close();
      },
    };
  };
