// The app's files. Only names found by walking the folder are ever opened, so no request can reach
// outside it, whatever its path says.

import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import type { Clock } from "../clock.ts";

/** Names in here carry a hash of their content. */
const IMMUTABLE_FOLDER = "/assets/";
/** A build that replaced the files under a running daemon is noticed at most this often. */
const RESCAN_MS = 1_000;
/** Paths of the app itself rather than of files. */
const APP_ROUTES = [/^\/$/, /^\/s\/[A-Za-z0-9_-]{1,64}$/, /^\/settings(?:\/[a-z-]{1,32})?$/];

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".ico": "image/x-icon",
  ".jpg": "image/jpeg",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".map": "application/json; charset=utf-8",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
  ".wasm": "application/wasm",
  ".webmanifest": "application/manifest+json; charset=utf-8",
  ".webp": "image/webp",
  ".woff2": "font/woff2",
};
/** Best first. */
const ENCODINGS = [
  { name: "br", extension: ".br" },
  { name: "gzip", extension: ".gz" },
] as const;

export interface StaticFile {
  readonly headers: Readonly<Record<string, string>>;
  readonly etag: string;
  readonly body: Buffer;
}

export interface StaticFiles {
  /** Null: no such file. `pathname` begins with a slash and is compared as sent, never decoded. */
  find(pathname: string, acceptEncoding: string): Promise<StaticFile | null>;
}

export async function openStaticFiles(folder: string, clock: Clock): Promise<StaticFiles> {
  let names = await scan(folder);
  let scannedAt = clock.now();
  const rescan = async () => {
    if (clock.now() - scannedAt < RESCAN_MS) return false;
    scannedAt = clock.now();
    names = await scan(folder);
    return true;
  };

  const look = async (pathname: string, acceptEncoding: string): Promise<StaticFile | null> => {
    const name = APP_ROUTES.some((route) => route.test(pathname)) ? "/index.html" : pathname;
    if (!names.has(name)) return null;
    const variants = ENCODINGS.filter(({ extension }) => names.has(name + extension));
    const encoding = variants.find((variant) => accepts(acceptEncoding, variant.name));
    const body = await readIfThere(join(folder, name + (encoding?.extension ?? "")));
    if (body === null) return null;
    const hash = createHash("sha256").update(body).digest("base64url").slice(0, 22);
    return {
      body,
      etag: `"${hash}"`,
      headers: {
        "Content-Type": CONTENT_TYPES[extname(name)] ?? "application/octet-stream",
        "Cache-Control": name.startsWith(IMMUTABLE_FOLDER)
          ? "public, max-age=31536000, immutable"
          : "no-cache",
        ...(variants.length > 0 && { Vary: "Accept-Encoding" }),
        ...(encoding && { "Content-Encoding": encoding.name }),
      },
    };
  };

  return {
    async find(pathname, acceptEncoding) {
      const found = await look(pathname, acceptEncoding);
      if (found !== null) return found;
      return (await rescan()) ? look(pathname, acceptEncoding) : null;
    },
  };
}

/** `Accept-Encoding` names it, or `*`, without a quality of zero. */
function accepts(header: string, encoding: string): boolean {
  const offers = new Map<string, boolean>();
  for (const offer of header.toLowerCase().split(",")) {
    const [name = "", ...parameters] = offer.split(";").map((part) => part.trim());
    offers.set(name, !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter)));
  }
  return offers.get(encoding) ?? offers.get("*") ?? false;
}

/** Every regular file below, as a path with slashes that begins with one. Links are not followed. */
async function scan(folder: string): Promise<Set<string>> {
  const names = new Set<string>();
  const walk = async (prefix: string): Promise<void> => {
    for (const entry of await readdir(join(folder, prefix), { withFileTypes: true })) {
      const name = `${prefix}/${entry.name}`;
      if (entry.isDirectory()) await walk(name);
      else if (entry.isFile()) names.add(name);
    }
  };
  try {
    await walk("");
  } catch (error) {
    // A build may be replacing the folder right now: what is there counts.
    if (!isMissing(error)) throw error;
  }
  return names;
}

async function readIfThere(path: string): Promise<Buffer | null> {
  try {
    return await readFile(path);
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
