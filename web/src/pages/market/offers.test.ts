import { expect, it } from "vitest";
import type { OfferView } from "../../api/types";
import { GIB } from "../../lib/size";
import { modelChoices, sorted, visible } from "./offers";

function offer(model: string, vramGib: number, free: number, price: string, host = "one"): OfferView {
  return {
    model, host, host_id: host, reachable: true, simulated: false, cards_total: 8, cards_free: free,
    on_demand_per_hour: price, gpu: { name: model.toUpperCase().replace("-", " "), vram_bytes: vramGib * GIB },
  } as OfferView;
}

const all = [
  offer("rtx-4090", 24, 0, "1.98"), offer("a100-80g", 80, 2, "6.5"), offer("rtx-3090", 24, 1, "1.3"),
  offer("rtx-4090", 24, 3, "1.98", "two"),
];
const names = (offers: OfferView[]) => offers.map((each) => `${each.model}@${each.host}`);

it("shows what can be had first, then the smallest VRAM, then the cheapest", () => {
  expect(names(sorted(all))).toEqual(["rtx-3090@one", "rtx-4090@two", "a100-80g@one", "rtx-4090@one"]);
});

it("finds models as people write them", () => {
  for (const text of ["4090", "RTX 4090", "rtx4090", "rtx-4090"]) {
    expect(names(visible(all, { vramGib: 0, text, onlyFree: false }))).toEqual(["rtx-4090@one", "rtx-4090@two"]);
  }
});

it("filters by VRAM and by what is free, where the host answers", () => {
  expect(names(visible(all, { vramGib: 40, text: "", onlyFree: false }))).toEqual(["a100-80g@one"]);
  expect(visible([{ ...all[1]!, reachable: false }], { vramGib: 0, text: "", onlyFree: true })).toEqual([]);
});

it("offers each model once, with what the best host has", () => {
  const choice = modelChoices(all).find((each) => each.model === "rtx-4090");
  expect(choice).toMatchObject({ free: 3, most: 8, perHour: "1.98" });
  expect(modelChoices(all)).toHaveLength(3);
});
