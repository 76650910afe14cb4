// The operator's pages.
import assert from "node:assert/strict";
import { Tenant, unique, until } from "./api.mjs";
import { server, wasQuiet } from "./browser.mjs";
import { confirm, go, logIn } from "./steps.mjs";

export const engines = ["sim"];

async function operatorOnPage(browser) {
  const operator = await Tenant.operator(server());
  const page = await browser.page();
  await logIn(page, "en", operator);
  return { operator, page };
}

export async function the_map_shows_who_has_which_card(browser) {
  const { operator, page } = await operatorOnPage(browser);
  const renter = await operator.newTenant(unique("renter"), "50");
  const instance = await renter.rent({ gpu_model: "rtx-4090", gpu_count: 2, name: "on-the-map" });
  await go(page, "Hosts and cards");
  const mine = page.getByRole("listitem").filter({ hasText: "on-the-map" });
  await mine.nth(1).waitFor();
  assert.equal(await mine.count(), 2);
  assert.match(await mine.first().innerText(), new RegExp(`rented[^]*${renter.login}[^]*SIMULATED`));
  await renter.call("POST", `/instances/${instance.id}/stop?wait=30s`);
  await until("the cards are free again", async () => (await mine.count()) === 0);
  wasQuiet(page);
}

export async function tops_up_once_for_one_press(browser) {
  const { operator, page } = await operatorOnPage(browser);
  const renter = await operator.newTenant(unique("renter"));
  await go(page, "Users");
  await page.getByRole("button", { name: `Top up ${renter.login}` }).click();
  await page.getByLabel(/^Amount/).fill("12,5");
  await page.getByText("Write an amount like 1.98").waitFor();
  await page.getByLabel(/^Amount/).fill("12.5");
  await page.getByLabel("Note").fill("welcome");
  await confirm(page, "Top up");
  await page.getByText(`${renter.login} was topped up by ¥12.50`).waitFor();
  assert.equal((await renter.call("GET", "/wallet")).available, "12.500000");
  wasQuiet(page);
}

export async function adds_users_and_invites(browser) {
  const { page } = await operatorOnPage(browser);
  const login = unique("renter");
  await go(page, "Users");
  await page.getByRole("button", { name: "Add a user" }).click();
  await page.getByRole("dialog").getByLabel("Login").fill(login);
  await page.getByRole("dialog").getByLabel("Password").fill("short");
  await page.getByRole("dialog").getByRole("button", { name: "Add a user" }).click();
  await page.getByRole("dialog").getByRole("alert").waitFor(); // the server says why not
  await page.getByRole("dialog").getByLabel("Password").fill("long enough");
  await confirm(page, "Add a user");
  await page.getByRole("row", { name: new RegExp(login) }).waitFor();
  await page.getByRole("button", { name: "Make an invitation" }).click();
  const code = await page.getByRole("dialog").getByLabel("Invitation code", { exact: true }).innerText();
  assert.match(code.trim(), /^[a-z0-9]{10,}$/);
  wasQuiet(page);
}

export async function sets_a_price_for_later_starts(browser) {
  const { operator, page } = await operatorOnPage(browser);
  await go(page, "Prices");
  await page.getByRole("button", { name: "Change the price of RTX 3090" }).click();
  await page.getByLabel(/^Amount/).fill("1.35");
  await confirm(page, "Save");
  await page.getByRole("row", { name: /RTX 3090.*¥1\.35/ }).waitFor();
  const price = (await operator.call("GET", "/prices")).items.find((each) => each.model === "rtx-3090");
  assert.equal(price.per_hour, "1.350000");
  wasQuiet(page);
}

export async function the_audit_says_who_did_what(browser) {
  const { operator, page } = await operatorOnPage(browser);
  const renter = await operator.newTenant(unique("renter"), "3");
  await go(page, "Audit");
  await page.getByLabel(/^Filter/).fill(renter.login);
  await page.getByRole("row", { name: /topped up/ }).waitFor();
  wasQuiet(page);
}

export async function a_renter_sees_none_of_it(browser) {
  const renter = await (await Tenant.operator(server())).newTenant(unique("renter"));
  const page = await browser.page();
  await logIn(page, "en", renter);
  assert.equal(await page.getByRole("link", { name: "Hosts and cards" }).count(), 0);
  await page.goto("/operator/users");
  await page.getByText("There is no such page").waitFor();
  wasQuiet(page);
}
