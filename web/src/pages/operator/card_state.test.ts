import { expect, it } from "vitest";
import type { CardView, InstanceView } from "../../api/types";
import { cardState, countCards } from "./card_state";

it("calls a card promised until its instance runs", () => {
  const rented = { state: "rented", fault: "" };
  expect(cardState(rented, { observed: "starting" })).toBe("promised");
  expect(cardState(rented, { observed: "running" })).toBe("rented");
  expect(cardState(rented, undefined)).toBe("rented");
});

it("shows a fault also on a card that somebody has", () => {
  expect(cardState({ state: "rented", fault: "XID 79" }, { observed: "running" })).toBe("sick");
});

it("counts each card once", () => {
  const cards = [
    { state: "free", fault: "" }, { state: "rented", fault: "", instance_id: "a" }, { state: "absent", fault: "" },
    { state: "quarantine", fault: "" },
  ] as CardView[];
  expect(countCards(cards, [{ id: "a", observed: "creating" } as InstanceView])).toEqual(
    { free: 1, rented: 0, promised: 1, sick: 0, absent: 1, quarantine: 1, excluded: 0, unfit: 0 });
});
