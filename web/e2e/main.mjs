// Runs the specs in a browser. Started by tests/e2e/run.py, which has the servers ready and says
// by the environment where they are.
import { openBrowser } from "./browser.mjs";
import * as advisor from "./advisor.mjs";
import * as journey from "./journey.mjs";
import * as look from "./look.mjs";
import * as operator from "./operator.mjs";
import * as rare from "./rare.mjs";
import * as session from "./session.mjs";
import * as terminal from "./terminal.mjs";

const engine = process.env.CARDHOUR_E2E_ENGINE;
const wanted = process.argv.slice(2);
const specs = { journey, session, operator, advisor, rare, look, terminal };
const counts = { ok: 0, FAIL: 0, skip: 0 };

/** Every exported function is a test; `onlyOn` of a spec names the engine that it needs. */
function tests() {
  return Object.entries(specs).flatMap(([spec, all]) =>
    Object.entries(all)
      .filter(([, test]) => typeof test === "function")
      .map(([name, test]) => ({ name: `${spec}.${name}`, test, engines: all.engines })),
  ).filter(({ name }) => !wanted.length || wanted.some((part) => name.includes(part)));
}

const browser = await openBrowser();
for (const { name, test, engines } of tests()) {
  if (!engines.includes(engine)) continue;
  const began = performance.now();
  let word = "ok";
  try {
    await test(browser);
  } catch (error) {
    word = "FAIL";
    console.log(`     ${String(error.stack ?? error).split("\n").slice(0, 14).join("\n     ")}`);
    await browser.keepLastScreen(name);
  }
  await browser.closePages();
  counts[word]++;
  console.log(`${word.padEnd(4)} ${name} (${((performance.now() - began) / 1000).toFixed(1)} s)`);
}
await browser.close();
console.log(`e2e: ${counts.ok} passed, ${counts.FAIL} failed, ${counts.skip} skipped`);
process.exit(counts.FAIL ? 1 : 0);
