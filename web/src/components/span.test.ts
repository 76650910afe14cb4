import { expect, it } from "vitest";
import type { Say } from "../i18n";
import { exactSpan, spanText } from "./span";

const say: Say = (key, values) => `${key} ${Object.values(values ?? {}).join(":")}`;

it("says the two largest parts of a time", () => {
  expect(spanText(say, 90_061_000)).toBe("span.days 1:1");
  expect(spanText(say, 3_720_000)).toBe("span.hours 1:2");
  expect(spanText(say, 61_000)).toBe("span.minutes 1:1");
  expect(spanText(say, -5)).toBe("span.seconds 0");
});

it("writes what was charged in full", () => {
  expect(exactSpan(say, 2 * 86_400_000 + 61_007)).toBe("span.exact 48:01:01.007");
  expect(exactSpan(say, 1000)).toBe("span.exact 0:00:01");
});
