import { expect, it } from "vitest";
import { staleAfter } from "./refresh_by_event";

const nouns = (kind: string, instance_id?: string) =>
  staleAfter({ kind, ...(instance_id ? { instance_id } : {}) }).map((key) => key.join("/"));

it("refreshes an instance, the list, the market and the money", () => {
  expect(nouns("instance.stopped", "i1")).toEqual(
    expect.arrayContaining(["instance/i1", "instances", "offers", "wallet", "statement"]),
  );
});

it("refreshes the money after a top-up, and no instance", () => {
  expect(nouns("wallet.topup")).toContain("wallet");
  expect(nouns("wallet.topup")).not.toContain("instances");
});

it("refreshes the history after anything, also what it does not know", () => {
  expect(nouns("something.new")).toEqual(["events", "operator"]);
});
