import { expect, it } from "vitest";
import { memoryStorage } from "../lib/memory_storage";
import { IdempotencyKeys } from "./idempotency";

function keys(storage = memoryStorage()) {
  let made = 0;
  return new IdempotencyKeys(storage, () => `key-${++made}`);
}

it("keeps the key of a request until its outcome is known", () => {
  const some = keys();
  const first = some.keyFor("rent a");
  expect(some.keyFor("rent a")).toBe(first);
  expect(some.keyFor("rent b")).not.toBe(first);
  some.settled("rent a");
  expect(some.keyFor("rent a")).not.toBe(first);
});

it("keeps it over a reload of the page", () => {
  const storage = memoryStorage();
  const first = keys(storage).keyFor("rent a");
  expect(new IdempotencyKeys(storage, () => "another").keyFor("rent a")).toBe(first);
});
