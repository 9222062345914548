// Draws the PNG icons from public/favicon.svg with a Chromium. Run by hand when the drawing changes:
// node scripts/make-icons.mjs

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { ensureChromium } from "./chromium.mjs";
import { ensureInstalled } from "./install.mjs";

const at = (path) => fileURLToPath(new URL(`../public/${path}`, import.meta.url));
const drawing = readFileSync(at("favicon.svg"), "utf8");

/** A launcher cuts a maskable icon to any shape within its middle 80 %, so the ground fills it all. */
const maskable = drawing
  .replace('rx="14" ', "")
  .replace(/<g fill.*<\/svg>/s, (inner) => `<g transform="translate(9.6 9.6) scale(0.7)">${inner}`)
  .replace("</svg>", "</g></svg>");

const ICONS = [
  { file: "icons/icon-192.png", size: 192, svg: drawing },
  { file: "icons/icon-512.png", size: 512, svg: drawing },
  { file: "icons/maskable-512.png", size: 512, svg: maskable },
];

await ensureInstalled();
const { chromium } = await import("@playwright/test");
const browser = await chromium.launch({
  executablePath: await ensureChromium(),
  ...(process.getuid?.() === 0 && { args: ["--no-sandbox"] }),
});
for (const { file, size, svg } of ICONS) {
  const page = await browser.newPage({ viewport: { width: size, height: size } });
  await page.setContent(
    `<body style="margin:0">${svg.replace("<svg ", `<svg width="${size}" height="${size}" style="display:block" `)}`,
  );
  await page.screenshot({ path: at(file), omitBackground: true });
  await page.close();
}
await browser.close();
