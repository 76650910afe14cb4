// What does not happen every day.
import assert from "node:assert/strict";
import { Tenant, unique } from "./api.mjs";
import { server, wasQuiet } from "./browser.mjs";
import { go, isState, logIn } from "./steps.mjs";
import { speak } from "./words.mjs";

export const engines = ["sim"];

async function inBoth(browser, at, credit, scene) {
  for (const lang of ["en", "zh"]) {
    const operator = await Tenant.operator(at);
    const renter = await operator.newTenant(unique("renter"), credit);
    const page = await browser.page({ lang, at });
    await logIn(page, lang, renter);
    await scene({ page, renter, operator, say: speak(lang), lang });
    wasQuiet(page);
  }
}

export const no_card_is_free = (browser) =>
  inBoth(browser, server("closed"), "50", async ({ page, operator, say }) => {
    const other = await operator.newTenant(unique("other"), "50");
    const taken = await other.rent({ gpu_model: "rtx-4090", name: "taken" });
    await go(page, say.market);
    await page.getByText(say.allRented).waitFor();
    await page.goto("/instances/new?model=rtx-4090");
    await page.getByText(say.noCard).waitFor();
    await page.getByRole("button", { name: say.create, disabled: true }).waitFor();
    // As soon as there is one, it can be had, without a reload.
    await other.call("POST", `/instances/${taken.id}/stop?wait=30s`);
    await page.getByRole("button", { name: say.create, disabled: false }).waitFor({ timeout: 40_000 });
  });

export const the_wallet_is_too_small = (browser) =>
  inBoth(browser, server(), "1", async ({ page, say }) => {
    await page.goto("/instances/new?model=rtx-4090");
    await page.getByText(say.notEnough).waitFor();
    await page.getByText("¥0.98").waitFor();
    await page.getByRole("button", { name: say.create, disabled: true }).waitFor();
  });

export const a_notice_counts_down = (browser) =>
  inBoth(browser, server("poor"), "2", async ({ page, renter, say }) => {
    const view = await renter.rent({ gpu_model: "rtx-4090", name: "short" });
    await page.goto(`/instances/${view.id}`);
    await page.getByText(say.notice).waitFor();
    await page.getByText(/59 min|59 分|1 h 0 min|1 小时 0 分/).first().waitFor();
    await renter.call("POST", `/instances/${view.id}/stop?wait=30s`);
  });

export async function a_fault_says_what_happened_and_what_to_do(browser) {
  for (const lang of ["en", "zh"]) {
    const say = speak(lang);
    const page = await browser.page({ lang, at: server("faulty") });
    await logIn(page, lang, { login: "renter1", password: "password of renter1" }); // see run.py
    await page.getByRole("link", { name: "broken" }).first().click();
    await isState(page, say.stopped);
    const text = await page.getByRole("alert").first().innerText();
    assert.match(text, lang === "zh" ? /\p{Script=Han}/u : /deleted|stopped/);
    assert.ok(text.trim().includes("\n"), "what happened, and what to do");
    wasQuiet(page);
  }
}

// The simulated engine cannot be silenced from outside: the server's answer is changed on its way.
export const a_silent_host_is_explained = (browser) =>
  inBoth(browser, server(), "20", async ({ page, renter, say }) => {
    const view = await renter.rent({ gpu_model: "rtx-4090", name: "silent" });
    await page.route(`**/api/v1/instances/${view.id}`, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), reachable: false, burn_per_hour: "0.000000" } });
    });
    await page.goto(`/instances/${view.id}`);
    await page.getByText(say.hostSilent, { exact: true }).first().waitFor();
    await renter.call("POST", `/instances/${view.id}/stop?wait=30s`);
  });
