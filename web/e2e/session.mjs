// Logging in and out, and what the two secrets are good for.
import assert from "node:assert/strict";
import { Tenant, unique } from "./api.mjs";
import { server, wasQuiet } from "./browser.mjs";
import { go, logIn } from "./steps.mjs";
import { speak } from "./words.mjs";

export const engines = ["sim"];
const say = speak("en");

async function renterOnPage(browser) {
  const renter = await (await Tenant.operator(server())).newTenant(unique("renter"), "10");
  const page = await browser.page();
  await logIn(page, "en", renter);
  return { renter, page };
}

export async function registers(browser) {
  const page = await browser.page();
  await page.goto("/login");
  await page.getByRole("link", { name: /Register/ }).click();
  await page.getByLabel(say.loginField, { exact: true }).fill(unique("renter"));
  await page.getByLabel(say.password, { exact: true }).fill("a long password");
  await page.getByLabel(say.passwordAgain).fill("another password");
  await page.getByRole("button", { name: say.register }).click();
  await page.getByText("The two passwords differ").waitFor();
  await page.getByLabel(say.passwordAgain).fill("a long password");
  await page.getByRole("button", { name: say.register }).click();
  await page.getByText("Ask the operator for a top-up").waitFor();
  wasQuiet(page);
}

export async function closed_registration_says_so(browser) {
  const page = await browser.page({ at: server("closed") });
  await page.goto("/register");
  await page.getByText("does not take registrations").waitFor();
  wasQuiet(page);
}

export async function a_wrong_password_is_explained(browser) {
  const page = await browser.page({ lang: "zh" });
  const chinese = speak("zh");
  await page.goto("/login");
  await page.getByLabel(chinese.loginField, { exact: true }).fill("nobody");
  await page.getByLabel(chinese.password, { exact: true }).fill("wrong password");
  await page.getByRole("button", { name: chinese.login, exact: true }).click();
  const alert = page.getByRole("alert");
  await alert.waitFor();
  assert.match(await alert.innerText(), /\p{Script=Han}/u);
  wasQuiet(page);
}

export async function a_new_tab_takes_the_session_over(browser) {
  const { page } = await renterOnPage(browser);
  const second = await page.context().newPage();
  await second.goto("/instances");
  await second.getByRole("heading", { level: 1, name: say.instances }).waitFor();
  await second.getByRole("button", { name: say.logout }).click();
  // The login of all tabs has ended.
  await page.getByRole("button", { name: say.login, exact: true }).waitFor();
  await second.getByRole("button", { name: say.login, exact: true }).waitFor();
  wasQuiet(page);
}

export async function the_cookie_alone_opens_nothing(browser) {
  const { page } = await renterOnPage(browser);
  const statuses = await page.evaluate(async () => {
    const secret = sessionStorage.getItem("cardhour.session");
    const ask = async (headers) => (await fetch("/api/v1/me", { headers })).status;
    return [await ask({}), await ask({ "Cardhour-Session": "wrong" }), await ask({ "Cardhour-Session": secret })];
  });
  assert.deepEqual(statuses, [401, 401, 200]);
  await page.context().clearCookies();
  const bare = await page.evaluate(async () =>
    (await fetch("/api/v1/me", { headers: { "Cardhour-Session": sessionStorage.getItem("cardhour.session") } })).status);
  assert.equal(bare, 401);
}

export async function an_ended_session_returns_to_where_one_was(browser) {
  const { renter, page } = await renterOnPage(browser);
  await go(page, say.market);
  await page.context().clearCookies();
  await page.goto("/instances?kept=1"); // the page is loaded, and the server refuses what it asks
  await page.getByText("Please log in again").waitFor();
  await page.getByLabel(say.loginField, { exact: true }).fill(renter.login);
  await page.getByLabel(say.password, { exact: true }).fill(renter.password);
  await page.getByRole("button", { name: say.login, exact: true }).click();
  await page.getByRole("heading", { level: 1, name: say.instances }).waitFor();
  assert.match(page.url(), /\/instances\?kept=1$/);
  wasQuiet(page);
}

export async function the_page_has_a_strict_policy(browser) {
  const page = await browser.page();
  const response = await page.goto("/login");
  const policy = response.headers()["content-security-policy"];
  assert.match(policy, /default-src 'none'/);
  assert.match(policy, /script-src 'self'(;|$)/);
  assert.match(policy, /style-src 'self' 'nonce-[^']+'/);
  assert.doesNotMatch(policy, /unsafe/);
  const nonces = [policy, (await page.reload()).headers()["content-security-policy"]];
  assert.notEqual(nonces[0], nonces[1]);
  assert.equal(await page.locator("script:not([src])").count(), 0);
  wasQuiet(page);
}

export async function settings_change_password_keys_and_tokens(browser) {
  const { renter, page } = await renterOnPage(browser);
  await go(page, say.settings);
  await page.getByLabel("Public key").fill("-----BEGIN OPENSSH PRIVATE KEY-----");
  await page.getByText("This is a private key").waitFor();
  const key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGl4WN9e+RmSwlPqJ5Zn8CNxWc1p7nIyv+4ZAKCEDZkR laptop";
  await page.getByLabel("Public key").fill(key);
  await page.getByRole("button", { name: "Add a key" }).click();
  await page.getByText("SHA256:").waitFor();

  await page.getByRole("button", { name: "Make an API token" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill("ci");
  await page.getByRole("dialog").getByRole("button", { name: "Make an API token" }).click();
  const token = (await page.getByRole("dialog").getByLabel("Token", { exact: true }).innerText()).trim();
  const used = await fetch(`${server().url}/api/v1/me`, { headers: { Authorization: `Bearer ${token}` } });
  assert.equal(used.status, 200);
  await page.getByRole("dialog").locator(".ant-modal-footer").getByRole("button", { name: "Close" }).click();

  await page.getByLabel("Present password").fill(renter.password);
  await page.getByLabel("New password").fill("a new password");
  await page.getByRole("button", { name: "Change the password" }).click();
  await page.getByText("The password is changed.").waitFor();
  await page.getByRole("button", { name: "Revoke ci" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await page.getByRole("button", { name: "Revoke ci" }).waitFor({ state: "hidden" });
  wasQuiet(page);
}

export async function follows_what_others_do_and_survives_a_cut(browser) {
  const { renter, page } = await renterOnPage(browser);
  await go(page, say.instances);
  const made = await renter.rent({ mode: "no_gpu", name: "by-api" });
  await page.getByRole("link", { name: "by-api" }).waitFor(); // by the event stream: nobody pressed
  await page.context().setOffline(true);
  await renter.call("POST", `/instances/${made.id}/stop?wait=30s`);
  await page.getByText("The connection to the server is lost").waitFor();
  await page.context().setOffline(false);
  await page.getByText(say.stopped, { exact: true }).first().waitFor();
  await page.getByText("The connection to the server is lost").waitFor({ state: "hidden" });
}

export async function a_lost_answer_rents_once(browser) {
  const { renter, page } = await renterOnPage(browser);
  let lost = 0;
  await page.route("**/api/v1/instances", async (route) => {
    if (route.request().method() !== "POST" || lost++ > 0) return route.fallback();
    await route.fetch(); // the server does it, and the answer is lost
    return route.abort("connectionreset");
  });
  await page.goto("/instances/new?mode=no_gpu");
  await page.getByRole("button", { name: say.create }).click();
  await page.locator("h1 .badge", { hasText: say.running }).waitFor();
  assert.ok(lost >= 2, "it was sent again");
  assert.equal((await renter.call("GET", "/instances")).items.length, 1);
}
