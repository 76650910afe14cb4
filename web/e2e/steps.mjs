// What people do, in the words of the page.
import { speak } from "./words.mjs";

export async function logIn(page, lang, { login, password }) {
  const say = speak(lang);
  await page.goto("/login");
  await page.getByLabel(say.loginField, { exact: true }).fill(login);
  await page.getByLabel(say.password, { exact: true }).fill(password);
  await page.getByRole("button", { name: say.login, exact: true }).click();
  await page.getByRole("heading", { level: 1, name: say.overview }).waitFor();
}

export async function go(page, name) {
  await page.getByRole("navigation").getByRole("link", { name, exact: true }).click();
  await page.getByRole("heading", { level: 1, name }).waitFor();
}

/** The state beside the name of the instance page. */
export async function isState(page, state, ms = 15_000) {
  await page.locator("h1 .badge", { hasText: state }).first().waitFor({ timeout: ms });
}

export async function fromMenu(page, say, act) {
  await page.getByRole("button", { name: say.more, exact: true }).click();
  await page.getByRole("menuitem", { name: act, exact: true }).click();
}

/** Presses the button of the open dialog, and waits until it is gone. While the sign of an earlier press fades, its name begins with "loading". */
export async function confirm(page, name) {
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: new RegExp(`^(loading )?${name}$`) }).click();
  await dialog.waitFor({ state: "hidden" });
}
