// The types are those of the contract in this tree: `npm run types` was not forgotten.
import { readFileSync } from "node:fs";
import openapi, { astToString } from "openapi-typescript";
import { expect, it } from "vitest";

it("is what openapi-typescript makes of api/openapi.json", async () => {
  const made = astToString(await openapi(new URL("../../../api/openapi.json", import.meta.url)));
  const kept = readFileSync(new URL("./schema.d.ts", import.meta.url), "utf8");
  expect(kept.slice(kept.indexOf("export interface paths")).trim()).toBe(made.slice(made.indexOf("export interface paths")).trim());
}, 30_000);
