// The web terminal on a real instance: a shell that outlives its connection.
import assert from "node:assert/strict";
import { join } from "node:path";
import { Tenant, unique } from "./api.mjs";
import { SCREENS, server, wasQuiet } from "./browser.mjs";
import { isState, logIn } from "./steps.mjs";
import { speak } from "./words.mjs";

export const engines = ["incus"];
const say = speak("en");
let made;

/** One running instance, and the terminal page of it. */
async function onTerminal(browser) {
  made ??= await rented();
  const page = await browser.page();
  const sockets = [];
  await page.routeWebSocket(/\/terminal\?/, (socket) => {
    sockets.push(socket);
    socket.connectToServer();
  });
  await logIn(page, "en", made.renter);
  await page.goto(`/instances/${made.view.id}`);
  await isState(page, say.running);
  await page.getByRole("link", { name: "Open a terminal" }).click();
  await shown(page, /root@|#/);
  return { page, sockets };
}

async function rented() {
  const operator = await Tenant.operator(server());
  const renter = await operator.newTenant(unique("renter"), "50");
  const view = await renter.rent({ mode: "no_gpu", name: "shell" }, "60s");
  assert.equal(view.observed, "running", JSON.stringify(view));
  return { renter, view };
}

const screen = (page) => page.locator(".terminal-box:not([hidden]) .xterm-rows");
const shown = (page, text, timeout = 20_000) => screen(page).filter({ hasText: text }).waitFor({ timeout });

async function type(page, line) {
  await page.locator(".terminal-box:not([hidden]) textarea").focus();
  await page.keyboard.type(line);
  await page.keyboard.press("Enter");
}

export async function runs_a_shell_and_follows_the_window(browser) {
  const { page } = await onTerminal(browser);
  await type(page, "echo answer-$((6*7)); stty size");
  await shown(page, "answer-42");
  await page.screenshot({ path: join(SCREENS, "terminal.png") });
  const before = (await screen(page).innerText()).match(/\n(\d+) (\d+)\s*\n/);
  await page.setViewportSize({ width: 1000, height: 600 });
  await type(page, "clear; echo now $(stty size)");
  await shown(page, /now \d+ \d+/);
  const after = (await screen(page).innerText()).match(/now (\d+) (\d+)/);
  assert.ok(Number(after[1]) < Number(before[1]) && Number(after[2]) < Number(before[2]), `${before} to ${after}`);
  wasQuiet(page);
}

export async function takes_the_same_shell_up_after_a_cut(browser) {
  const { page, sockets } = await onTerminal(browser);
  await type(page, "X=kept; (sleep 2; echo while-away) & clear");
  await sockets.at(-1).close({ code: 3000 });
  await page.getByText("connection lost, trying again").waitFor();
  await page.getByText("connected", { exact: true }).waitFor();
  assert.equal(sockets.length, 2);
  await type(page, "echo X-is-$X");
  await shown(page, "X-is-kept");
  await shown(page, "while-away");
  wasQuiet(page);
}

export async function opens_several_and_ends_each(browser) {
  const { page } = await onTerminal(browser);
  await type(page, "NAME=first; clear");
  await page.getByRole("button", { name: "New terminal" }).click();
  await shown(page, /root@|#/);
  await type(page, "clear; echo name-is-[$NAME]");
  await shown(page, "name-is-[]");
  await page.getByText("Terminal 1", { exact: true }).click();
  await type(page, "clear; echo name-is-[$NAME]");
  await shown(page, "name-is-[first]");
  await type(page, "exit 3");
  await page.getByText("The shell ended with code 3.").waitFor();
  await page.getByText("Terminal 2", { exact: true }).click();
  await page.getByRole("button", { name: "Close this terminal" }).click();
  await page.getByText("Terminal 2", { exact: true }).waitFor({ state: "hidden" });
  wasQuiet(page);
}

export async function a_large_paste_arrives_complete(browser) {
  const { page } = await onTerminal(browser);
  await type(page, "stty -echo; cat > /tmp/pasted; stty echo; clear; echo bytes-$(wc -c < /tmp/pasted)");
  const line = `${"0123456789".repeat(9)}\n`;
  await page.locator(".terminal-box:not([hidden]) textarea").focus();
  await page.evaluate((text) => {
    const data = new DataTransfer();
    data.setData("text/plain", text);
    document.activeElement.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true }));
  }, line.repeat(11_000)); // a megabyte
  await page.keyboard.press("Control+d");
  await shown(page, `bytes-${line.length * 11_000}`, 60_000);
  wasQuiet(page);
}

export async function z_says_so_when_the_instance_stops(browser) {
  const { page } = await onTerminal(browser);
  await made.renter.call("POST", `/instances/${made.view.id}/stop?wait=60s`);
  await page.getByText(/The instance is not running|The shell ended/).waitFor({ timeout: 60_000 });
  await page.getByRole("button", { name: "New terminal", disabled: true }).waitFor();
  wasQuiet(page);
}
