// Fails when the first load, as it goes over the wire with gzip, is larger than its budget: the
// page, the entry with all that it imports at once, and its styles. Prints the parts.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const BUDGET_KB = 400;
const DIST = new URL("../dist/", import.meta.url).pathname;
const manifest = JSON.parse(readFileSync(join(DIST, ".vite/manifest.json"), "utf8"));

/** The entry, what it imports, and the overview: what one sees first after logging in. */
const wanted = new Set();
function take(name) {
  if (wanted.has(name)) return;
  wanted.add(name);
  (manifest[name].imports ?? []).forEach(take);
}
take("index.html");
take("src/pages/overview/overview_page.tsx");

const files = new Set(["index.html"]);
for (const name of wanted) {
  files.add(manifest[name].file);
  (manifest[name].css ?? []).forEach((file) => files.add(file));
}
let total = 0;
for (const file of files) {
  const bytes = gzipSync(readFileSync(join(DIST, file)), { level: 9 }).length;
  total += bytes;
  console.log(`${(bytes / 1024).toFixed(1).padStart(7)} KB  ${file}`);
}
const kb = total / 1024;
console.log(`${kb.toFixed(1).padStart(7)} KB  first load, of ${BUDGET_KB}`);
if ([...files].some((file) => /terminal|operator/.test(file))) {
  console.log("the terminal or the operator's pages are in the first load");
  process.exit(1);
}
process.exit(kb <= BUDGET_KB ? 0 : 1);
