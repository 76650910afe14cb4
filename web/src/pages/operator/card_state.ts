// A card's state on the operator's map. Beyond what the API says: a rented card whose instance is
// not running yet is promised, not in use.
import type { CardView, InstanceView } from "../../api/types";

export type CardState =
  | "free" | "rented" | "promised" | "sick" | "absent"
  | "quarantine" | "excluded" | "unfit"; // out of the market

export function cardState(
  card: Pick<CardView, "state" | "fault">,
  instance: Pick<InstanceView, "observed"> | undefined,
): CardState {
  if (card.fault) return "sick"; // also while somebody has it
  if (card.state === "rented" && (instance?.observed === "creating" || instance?.observed === "starting")) return "promised";
  return card.state as CardState;
}

export function countCards(cards: CardView[], instances: InstanceView[]): Record<CardState, number> {
  const counts: Record<CardState, number> = {
    free: 0, rented: 0, promised: 0, sick: 0, absent: 0, quarantine: 0, excluded: 0, unfit: 0,
  };
  for (const card of cards) counts[cardState(card, instances.find((each) => each.id === card.instance_id))]++;
  return counts;
}
