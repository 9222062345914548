import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { systemCode, TransportError } from "./transport-error.ts";

/** Resolves with the port. Rejects with `TransportError` port_taken, port_forbidden or bad_host. */
export function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const failed = (error: Error) => reject(listenError(error, host, port));
    server.once("error", failed);
    server.listen(port, host, () => {
      server.off("error", failed);
      resolve(portOf(server.address()));
    });
  });
}

function listenError(error: Error, host: string, port: number): TransportError {
  switch (systemCode(error)) {
    case "EADDRINUSE":
      return new TransportError("port_taken", `Port ${port} is taken by another program.`, error);
    case "EACCES":
      return new TransportError(
        "port_forbidden",
        `This user may not listen on port ${port}.`,
        error,
      );
    default:
      return new TransportError("bad_host", `Cannot listen on ${host}, port ${port}.`, error);
  }
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === "string") throw new Error("Listening on no port");
  return address.port;
}
