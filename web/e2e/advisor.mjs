// The advisor: an answer follows the form, and leads to the card.
import { Tenant, unique } from "./api.mjs";
import { server, wasQuiet } from "./browser.mjs";
import { go, logIn } from "./steps.mjs";

export const engines = ["sim"];

async function onAdvisor(browser, lang) {
  const renter = await (await Tenant.operator(server())).newTenant(unique("renter"), "50");
  const page = await browser.page({ lang });
  await logIn(page, lang, renter);
  await go(page, lang === "zh" ? "选卡顾问" : "Advisor");
  return page;
}

async function otherSize(page) {
  const model = page.getByLabel("Model", { exact: true });
  await model.fill("Another size");
  await model.press("Enter");
}

export async function from_a_model_to_a_card(browser) {
  const page = await onAdvisor(browser, "en");
  await otherSize(page);
  await page.getByLabel(/^Parameters/).fill("70B");
  await page.getByText(/70B needs about 1\d\d/).waitFor();
  await page.getByLabel(/^Parameters/).fill("7B");
  await page.getByRole("row", { name: /1 × RTX 4090/ }).getByRole("link").click();
  await page.getByRole("heading", { level: 1, name: "Create an instance" }).waitFor();
  await page.getByText("¥1.98").first().waitFor();
  wasQuiet(page);
}

export async function every_question_has_an_answer(browser) {
  for (const [lang, topics] of [
    ["en", { "Which card": /1 × .* of VRAM/, "How long": /card-hours/, "What it costs": /¥221\.76/, "Own or rent": /h a month/ }],
    ["zh", { 选哪张卡: /1 × .*显存/, 要多久: /卡时/, 要花多少: /¥221\.76/, 自购还是租用: /小时/ }],
  ]) {
    const page = await onAdvisor(browser, lang);
    for (const [topic, answer] of Object.entries(topics)) {
      await page.getByText(topic, { exact: true }).click();
      await page.locator(".conclusion, .facts").filter({ hasText: answer }).first().waitFor();
    }
    wasQuiet(page);
  }
}

export async function a_wrong_size_is_explained(browser) {
  const page = await onAdvisor(browser, "en");
  await otherSize(page);
  await page.getByLabel(/^Parameters/).fill("many");
  await page.getByRole("alert").waitFor();
  wasQuiet(page);
}
