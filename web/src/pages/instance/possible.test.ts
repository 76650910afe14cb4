import { expect, it } from "vitest";
import { possible } from "./possible";

const view = (observed: string, more: object = {}) =>
  ({ observed, desired: "running", mode: "on_demand", settled: true, ...more }) as Parameters<typeof possible>[0];

it("lets one stop and release whatever starts or runs", () => {
  for (const observed of ["creating", "starting", "running"]) {
    expect(possible(view(observed))).toEqual(expect.arrayContaining(["stop", "release"]));
  }
});

it("restarts only what runs and has settled", () => {
  expect(possible(view("running"))).toContain("restart");
  expect(possible(view("running", { settled: false }))).not.toContain("restart");
  expect(possible(view("stopped"))).not.toContain("restart");
});

it("adds cards to what runs without", () => {
  expect(possible(view("running", { mode: "no_gpu" }))).toContain("add_cards");
  expect(possible(view("running"))).not.toContain("add_cards");
});

it("restores from the bin until it is being destroyed", () => {
  expect(possible(view("in_bin", { desired: "released" }))).toEqual(["restore", "purge"]);
  expect(possible(view("in_bin", { desired: "purged" }))).toEqual([]);
  expect(possible(view("purged"))).toEqual([]);
});
