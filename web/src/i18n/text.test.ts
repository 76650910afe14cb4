// Both languages are complete (the types see to it), say the same, and nothing is left over.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { resources, texts } from "./text";

const SOURCES = new URL("..", import.meta.url).pathname;
const { en, zh } = resources();
const entries = Object.entries<readonly string[]>(texts);

function sources(): string {
  return (readdirSync(SOURCES, { recursive: true }) as string[])
    .filter((file) => /\.tsx?$/.test(file) && !/\.test\.|i18n\/words|schema\.d\.ts/.test(file))
    .map((file) => readFileSync(join(SOURCES, file), "utf8"))
    .join("\n");
}

it("has no key twice: a later file would silently win", () => {
  const files = readdirSync(join(SOURCES, "i18n/words")).map((file) => readFileSync(join(SOURCES, "i18n/words", file), "utf8"));
  const keys = files.flatMap((text) => [...text.matchAll(/^ {2}"([^"]+)":/gm)].map((match) => match[1]));
  expect(keys.filter((key, index) => keys.indexOf(key) !== index)).toEqual([]);
  expect(keys.length).toBe(entries.length);
});

it("has every text in both languages", () => {
  const missing = entries.filter(([, text]) => text.some((each) => !each.trim())).map(([key]) => key);
  expect(missing).toEqual([]);
  for (const key of Object.keys(zh)) expect(en, key).toHaveProperty([key]);
});

it("speaks Chinese in Chinese", () => {
  const sameInBoth = ["facts.cpu", "facts.id", "hosts.cpu", "hosts.driver.value", "instance.shape", "history.by", "market.bandwidth", "market.fp16"];
  const untranslated = Object.entries(zh).filter(([key, text]) => !/\p{Script=Han}/u.test(text) && !sameInBoth.includes(key));
  expect(untranslated).toEqual([]);
});

it("names the same values in both languages", () => {
  const names = (text: string) => [...text.matchAll(/\{\{(\w+)\}\}/g)].map((match) => match[1]).sort().join();
  for (const [key, text] of entries) {
    const forms = text.map(names);
    expect(new Set(forms).size, `${key}: ${forms.join(" | ")}`).toBe(1);
  }
});

it("has no text that nobody shows", () => {
  const code = sources();
  const prefixes = [...code.matchAll(/`([\w.]+\.)\$\{/g)].map((match) => match[1]!);
  // wordFor(say, "event", ...) asks for "event.…"
  prefixes.push(...[...code.matchAll(/wordFor\(say, "(\w+)"/g)].map((match) => `${match[1]}.`));
  const unused = entries
    .map(([key]) => key)
    .filter((key) => !code.includes(`"${key}"`) && !prefixes.some((prefix) => key.startsWith(prefix)));
  expect(unused).toEqual([]);
});

it("names events and causes as the command line does", () => {
  const cli = readFileSync(new URL("../../../src/cli/words.cc", import.meta.url), "utf8");
  const told = [...cli.matchAll(/\{"([a-z_]+\.[a-z_]+)",\s*\{"([^"]+)",\s*"([^"]+)"\}\}/g)];
  expect(told.length).toBeGreaterThan(20);
  const mine = texts as Record<string, readonly string[]>;
  const differing = told.filter(([, kind, english, chinese]) =>
    mine[`event.${kind}`]?.join() !== `${english},${chinese}`).map(([, kind]) => kind);
  expect(differing).toEqual([]);
});

it("has a word for every value that the API may answer", () => {
  const contract = JSON.parse(readFileSync(new URL("../../../api/openapi.json", import.meta.url), "utf8")) as {
    components: { schemas: Record<string, { enum?: string[] }> };
  };
  const kinds = {
    Observed: "state", Cause: "cause", Meter: "meter", TransactionKind: "transaction", Role: "role",
    AccountState: "account", TokenKind: "token", Fit: "fit", PayMode: "pay", Precision: "precision",
    Workload: "workload", CardTask: "task",
  };
  for (const [schema, kind] of Object.entries(kinds)) {
    const values = contract.components.schemas[schema]?.enum ?? [];
    expect(values.length, schema).toBeGreaterThan(1);
    expect(values.filter((value) => !(`${kind}.${value}` in texts)), schema).toEqual([]);
  }
});
