// Which offers are shown, and in which order.
import type { OfferView } from "../../api/types";
import { toMicro } from "../../lib/money";
import { GIB } from "../../lib/size";

export interface OfferFilter {
  vramGib: number; // 0: any
  text: string; // of the model or the host, as people type it: "4090", "RTX 4090", "rtx-4090"
  onlyFree: boolean;
}

const plain = (text: string) => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");

export function visible(offers: OfferView[], filter: OfferFilter): OfferView[] {
  const wanted = plain(filter.text);
  return offers.filter(
    (offer) =>
      offer.gpu.vram_bytes >= filter.vramGib * GIB &&
      (!filter.onlyFree || (offer.reachable && offer.cards_free > 0)) &&
      [offer.model, offer.gpu.name, offer.host].some((name) => plain(name).includes(wanted)),
  );
}

/** What can be had first; then by VRAM, then by price. */
export function sorted(offers: OfferView[]): OfferView[] {
  const rank = (offer: OfferView) => (offer.reachable && offer.cards_free > 0 ? 0 : 1);
  return [...offers].sort(
    (a, b) =>
      rank(a) - rank(b) ||
      a.gpu.vram_bytes - b.gpu.vram_bytes ||
      Number(toMicro(a.on_demand_per_hour) - toMicro(b.on_demand_per_hour)) ||
      a.host.localeCompare(b.host),
  );
}

export interface ModelChoice {
  model: string;
  name: string;
  vramBytes: number;
  perHour: string;
  free: number; // on the best host
  most: number; // cards of the largest host
  simulated: boolean;
}

/** The models of all hosts, each once: what a create form lets one choose. */
export function modelChoices(offers: OfferView[]): ModelChoice[] {
  const byModel = new Map<string, ModelChoice>();
  for (const offer of offers) {
    const known = byModel.get(offer.model);
    byModel.set(offer.model, {
      model: offer.model,
      name: offer.gpu.name,
      vramBytes: offer.gpu.vram_bytes,
      perHour: offer.on_demand_per_hour,
      free: Math.max(known?.free ?? 0, offer.reachable ? offer.cards_free : 0),
      most: Math.max(known?.most ?? 0, offer.cards_total),
      simulated: (known?.simulated ?? false) || offer.simulated,
    });
  }
  return [...byModel.values()].sort((a, b) => a.vramBytes - b.vramBytes || a.name.localeCompare(b.name));
}
