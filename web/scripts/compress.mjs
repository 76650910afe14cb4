// Writes FILE.br and FILE.gz beside what is worth it: the server sends them as they are.
// index.html is not among them, since the server writes a nonce into every answer.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const DIST = new URL("../dist/", import.meta.url).pathname;
const WORTH_IT = new Set([".js", ".css", ".svg", ".json"]);

rmSync(join(DIST, ".vite"), { recursive: true, force: true }); // scripts/size.mjs has read it

for (const entry of readdirSync(DIST, { recursive: true })) {
  const file = join(DIST, entry);
  if (!WORTH_IT.has(extname(file))) continue;
  const text = readFileSync(file);
  const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: text.length } };
  writeFileSync(`${file}.br`, brotliCompressSync(text, brotli));
  writeFileSync(`${file}.gz`, gzipSync(text, { level: 9 }));
}
