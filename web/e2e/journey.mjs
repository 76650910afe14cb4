// The renter's day from the first look to the last line of the bill, in both languages. The same
// on the simulated engine and on a real Incus.
import assert from "node:assert/strict";
import { Tenant, unique, until } from "./api.mjs";
import { server, wasQuiet } from "./browser.mjs";
import { confirm, fromMenu, go, isState, logIn } from "./steps.mjs";
import { speak } from "./words.mjs";

export const engines = ["sim", "incus"];

const SLOW = process.env.CARDHOUR_E2E_ENGINE === "incus" ? 90_000 : 15_000;

async function aDay(browser, lang) {
  const say = speak(lang);
  const operator = await Tenant.operator(server());
  const renter = await operator.newTenant(unique("renter"), "100");
  const page = await browser.page({ lang });
  await logIn(page, lang, renter);
  await page.getByText("¥100.00").first().waitFor();

  const id = await rent(page, say);
  await halt(page, say);
  await withoutACard(page, say);
  await backToCards(page, say);
  await restartAndRename(page, say, renter, id);
  await binAndBack(page, say);
  await billAddsUp(page, say);
  await destroy(page, say, id);
  wasQuiet(page);
}

async function rent(page, say) {
  await go(page, say.market);
  await page.getByText(say.simulated).first().waitFor();
  await page.getByRole("button", { name: say.rentOn }).first().click();
  await page.getByRole("heading", { level: 1, name: say.createTitle }).waitFor();
  await page.getByText("¥1.98").first().waitFor();
  await page.getByText(say.whenStopped).waitFor();
  await page.getByLabel(say.name, { exact: true }).fill("train 训练");
  await page.getByRole("button", { name: say.create }).click();
  await page.getByRole("heading", { level: 1, name: "train 训练" }).waitFor();
  await isState(page, say.running, SLOW);
  return page.url().split("/").at(-1);
}

async function halt(page, say) {
  await page.getByRole("button", { name: say.stop, exact: true }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText(say.billingEnds).waitFor();
  await dialog.getByText(say.disksFree).waitFor();
  await confirm(page, say.stop);
  await isState(page, say.stopped, SLOW);
}

async function withoutACard(page, say) {
  await fromMenu(page, say, say.startNoGpu);
  await page.getByRole("dialog").getByText("¥0.10").first().waitFor();
  await confirm(page, say.start);
  await isState(page, say.running, SLOW);
  await page.getByText(say.noGpu).first().waitFor();
}

async function backToCards(page, say) {
  await page.getByRole("button", { name: say.addCards, exact: true }).click();
  await page.getByRole("dialog").getByText("¥1.98").first().waitFor();
  await confirm(page, say.addCards);
  await page.getByText("GPU-").first().waitFor({ timeout: SLOW });
  await isState(page, say.running, SLOW);
}

async function restartAndRename(page, say, renter, id) {
  await until("it has settled", async () => (await renter.call("GET", `/instances/${id}`)).settled, SLOW);
  await fromMenu(page, say, say.restart);
  await confirm(page, say.restart);
  await page.getByText(say.restartedReady).first().waitFor({ timeout: SLOW });
  await fromMenu(page, say, say.rename);
  await page.getByLabel(say.newName).fill("renamed");
  await confirm(page, say.save);
  await page.getByRole("heading", { level: 1, name: "renamed" }).waitFor();
}

async function binAndBack(page, say) {
  await fromMenu(page, say, say.release);
  await confirm(page, say.release);
  await isState(page, say.inBin, SLOW);
  await page.getByText(say.bin).waitFor();
  await page.getByRole("button", { name: say.undo }).click();
  await isState(page, say.stopped, SLOW);
}

async function billAddsUp(page, say) {
  await go(page, say.wallet);
  await page.getByLabel(say.explain).check();
  await page.getByText(say.agrees).waitFor();
  assert.ok((await page.getByRole("row").count()) > 4, "the bill has a line for each run");
}

async function destroy(page, say, id) {
  await go(page, say.instances);
  await page.getByRole("link", { name: "renamed" }).click();
  await fromMenu(page, say, say.release);
  await confirm(page, say.release);
  await isState(page, say.inBin, SLOW);
  await fromMenu(page, say, say.purge);
  const press = page.getByRole("dialog").getByRole("button", { name: say.purge, exact: true });
  assert.ok(await press.isDisabled(), "nothing is destroyed without the name");
  await page.getByRole("dialog").getByRole("textbox").fill("renamed");
  await confirm(page, say.purge);
  await isState(page, say.gone, SLOW);
  assert.equal(page.url().split("/").at(-1), id);
}

export const english = (browser) => aDay(browser, "en");
export const chinese = (browser) => aDay(browser, "zh");
