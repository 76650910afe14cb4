// Every page in both languages, wide and narrow, light and dark: kept as a picture, accessible, and
// not wider than the window.
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Tenant, unique } from "./api.mjs";
import { fitsTheWindow, isAccessible, NARROW, SCREENS, server, wasQuiet, WIDE } from "./browser.mjs";
import { logIn } from "./steps.mjs";

export const engines = ["sim"];

const LANGS = ["en", "zh"];
let scene;

/** An account with something on every page; once for all looks. */
async function setScene() {
  const operator = await Tenant.operator(server());
  const renter = await operator.newTenant(unique("renter"), "123.45");
  const key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGl4WN9e+RmSwlPqJ5Zn8CNxWc1p7nIyv+4ZAKCEDZkR laptop";
  await renter.call("POST", "/ssh-keys", { public_key: key });
  await renter.call("POST", "/tokens", { name: "ci", scopes: "read instances", lifetime_ms: 86_400_000 });
  const running = await renter.rent({ gpu_model: "rtx-4090", gpu_count: 2, name: "llama-7b", purpose: "LoRA of a 7B model" });
  const stopped = await renter.rent({ mode: "no_gpu", name: "数据整理" });
  await renter.call("POST", `/instances/${stopped.id}/stop?wait=30s`);
  const binned = await renter.rent({ gpu_model: "rtx-3090", name: "old-experiment" });
  await renter.call("POST", `/instances/${binned.id}/release?wait=30s`, {});
  return { operator, renter, running, stopped, binned };
}

function pages({ running, stopped, binned }) {
  return {
    renter: {
      overview: "/", market: "/market", instances: "/instances", create: "/instances/new?model=rtx-4090",
      running: `/instances/${running.id}`, stopped: `/instances/${stopped.id}`, binned: `/instances/${binned.id}`,
      wallet: "/wallet", advisor: "/advisor", "advisor-cards": "/advisor?about=cards",
      "advisor-time": "/advisor?about=time", "advisor-cost": "/advisor?about=cost", "advisor-own": "/advisor?about=own", settings: "/settings", missing: "/no-such-page",
    },
    operator: { hosts: "/operator/hosts", prices: "/operator/prices", users: "/operator/users", audit: "/operator/audit" },
  };
}

// All of a look's findings are told at once.
let findings = [];
const keep = (error) => findings.push(error.message);

function nothingFound() {
  const found = findings;
  findings = [];
  assert.equal(found.length, 0, found.join("\n"));
}

async function look(page, name, view) {
  await page.locator("h1").first().waitFor();
  await page.locator("[aria-busy=true], .ant-skeleton").first().waitFor({ state: "detached" });
  // Whatever was asked of the server came.
  if (await page.locator(".ant-alert-error").count()) keep(new Error(`${view}/${name}: ${await page.locator(".ant-alert-error").first().innerText()}`));
  await page.evaluate(() => document.fonts.ready);
  const folder = join(SCREENS, view);
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true, animations: "disabled" });
  await fitsTheWindow(page, `${view}/${name}`).catch(keep);
  await isAccessible(page, `${view}/${name}`).catch(keep);
}

async function lookAtAll(browser, lang, viewport, dark) {
  scene ??= await setScene();
  const view = `${lang}-${viewport.width}${dark ? "-dark" : ""}`;
  const all = pages(scene);
  for (const who of ["renter", "operator"]) {
    const page = await browser.page({ lang, viewport, dark });
    if (who === "renter") {
      for (const name of ["login", "register"]) {
        await page.goto(`/${name}`);
        await look(page, name, view);
      }
    }
    await logIn(page, lang, scene[who]);
    for (const [name, path] of Object.entries(all[who])) {
      await page.goto(path);
      await look(page, name, view);
    }
    wasQuiet(page);
  }
  nothingFound();
}

/** The dialogs, which are pages in the page. */
async function lookAtDialogs(browser, lang, viewport) {
  scene ??= await setScene();
  const view = `${lang}-${viewport.width}`;
  const page = await browser.page({ lang, viewport });
  await logIn(page, lang, scene.renter);
  for (const [name, id, open] of [
    ["dialog-stop", scene.running.id, async () => page.getByRole("button", { name: lang === "zh" ? "关机" : "Stop", exact: true }).click()],
    ["dialog-start", scene.stopped.id, async () => page.getByRole("button", { name: lang === "zh" ? "开机" : "Start", exact: true }).click()],
    ["dialog-purge", scene.binned.id, async () => {
      await page.getByRole("button", { name: lang === "zh" ? "更多" : "More", exact: true }).click();
      await page.getByRole("menuitem", { name: lang === "zh" ? "立即销毁" : "Destroy now" }).click();
    }],
  ]) {
    await page.goto(`/instances/${id}`);
    await open();
    await page.getByRole("dialog").waitFor();
    await page.waitForTimeout(400); // it grows out of the button
    await look(page, name, view);
  }
  wasQuiet(page);
  nothingFound();
}

export const wide_en = (browser) => lookAtAll(browser, "en", WIDE, false);
export const wide_zh = (browser) => lookAtAll(browser, "zh", WIDE, false);
export const narrow_en = (browser) => lookAtAll(browser, "en", NARROW, false);
export const narrow_zh = (browser) => lookAtAll(browser, "zh", NARROW, false);
export const dark_zh = (browser) => lookAtAll(browser, "zh", WIDE, true);
export const dark_narrow_en = (browser) => lookAtAll(browser, "en", NARROW, true);
export const very_wide_en = (browser) => lookAtAll(browser, "en", { width: 1920, height: 1080 }, false);

export async function dialogs(browser) {
  for (const lang of LANGS) for (const viewport of [WIDE, NARROW]) await lookAtDialogs(browser, lang, viewport);
}
