// The browser of the specs. Whatever a page does, it is watched: errors on the console, what its
// security policy refused, and requests to anybody else fail the test.
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import assert from "node:assert/strict";
import { chromium } from "playwright-core";

const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync"];
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
export const WIDE = { width: 1440, height: 900 };
export const NARROW = { width: 390, height: 844 };
export const SCREENS = process.env.CARDHOUR_E2E_SCREENS;

/** A server that run.py has started: where it is, and its operator's password. */
export function server(name = "main") {
  const [url, operatorPassword] = process.env[`CARDHOUR_E2E_${name.toUpperCase()}`].split(" ");
  return { url, operatorPassword };
}

export async function openBrowser() {
  const browser = await chromium.launch({ executablePath: process.env.CARDHOUR_E2E_BROWSER, args: FLAGS });
  let contexts = [];
  let lastPage;

  /** A new profile. Answers a page that has `complaints`. */
  async function page({ lang = "en", viewport = WIDE, at = server(), dark = false } = {}) {
    const context = await browser.newContext({
      baseURL: at.url,
      viewport,
      locale: lang === "zh" ? "zh-CN" : "en-US",
      colorScheme: dark ? "dark" : "light",
      permissions: ["clipboard-read", "clipboard-write"],
    });
    context.setDefaultTimeout(15_000);
    contexts.push(context);
    const complaints = [];
    context.on("page", (opened) => watch(opened, at.url, complaints));
    context.on("request", (request) => {
      const to = new URL(request.url());
      if (!["data:", "blob:"].includes(to.protocol) && to.host !== new URL(at.url).host) complaints.push(`request to ${to.host}`);
    });
    const opened = await context.newPage();
    opened.complaints = complaints;
    lastPage = opened;
    return opened;
  }

  return {
    page,
    async closePages() {
      await Promise.all(contexts.map((context) => context.close()));
      contexts = [];
    },
    async keepLastScreen(name) {
      const file = join(SCREENS, "failed", `${name}.png`);
      mkdirSync(join(SCREENS, "failed"), { recursive: true });
      await lastPage?.screenshot({ path: file }).catch(() => undefined);
      console.log(`     ${lastPage?.url()} ${file}`);
    },
    close: () => browser.close(),
  };
}

function watch(page, url, complaints) {
  page.on("pageerror", (error) => complaints.push(`error: ${error.message}`));
  page.on("console", (message) => {
    const text = message.text();
    // The browser itself notes every answer of 400 and above; those are shown to the reader.
    if (message.type() === "error" && !/Failed to load resource/.test(text)) complaints.push(`console: ${text}`);
    if (message.type() === "warning" && /antd|React/.test(text)) complaints.push(`console: ${text}`);
  });
}

/** Nothing was wrong on the page so far. */
export function wasQuiet(page) {
  assert.deepEqual(page.complaints, []);
}

/** No serious or critical finding of axe-core on the page as it is. */
export async function isAccessible(page, what) {
  await page.evaluate(AXE); // by the debugger: the page's own policy would not load it
  const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  const bad = found.violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.slice(0, 4).map((node) => `${node.target} ${node.any[0]?.message ?? ""}`).join(" | ")}`);
  assert.deepEqual(bad, [], what);
}

/** The page is not wider than the window. */
export async function fitsTheWindow(page, what) {
  const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.ok(over <= 0, `${what}: ${over} px wider than the window`);
}
