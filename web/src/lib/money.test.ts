import { describe, expect, it } from "vitest";
import { costOf, formatBalance, formatExact, formatRunning, parseAmount, toDecimal, toMicro } from "./money";

const yuan = { code: "CNY", symbol: "¥", decimals: 2 };
const yen = { code: "JPY", symbol: "¥", decimals: 0 };

describe("amounts", () => {
  it("go from text to micro-units and back without loss", () => {
    for (const text of ["0.000000", "1.980000", "-1.980000", "0.000001", "9007199254740993.000001"]) {
      expect(toDecimal(toMicro(text))).toBe(text);
    }
    expect(toMicro("1.98")).toBe(1_980_000n);
    expect(toMicro("-0.5")).toBe(-500_000n);
  });

  it("refuses what is not an amount", () => {
    for (const text of ["", "1.", ".5", "1e3", "1.9999999", "NaN", "1,000", " 1"]) {
      expect(() => toMicro(text), text).toThrow();
    }
  });

  it("takes what people type, and nothing else", () => {
    expect(parseAmount(" 20 ")).toBe(20_000_000n);
    expect(parseAmount("0.01")).toBe(10_000n);
    for (const typed of ["", "-1", "abc", "1.2.3", "1,5", "1.0000001"]) expect(parseAmount(typed)).toBeUndefined();
  });
});

describe("shown amounts", () => {
  it("round a balance once, half up, away from zero", () => {
    expect(formatBalance(1_234_995_000n, yuan)).toBe("¥1,235.00");
    expect(formatBalance(4_994_999n, yuan)).toBe("¥4.99");
    expect(formatBalance(4_995_000n, yuan)).toBe("¥5.00");
    expect(formatBalance(-4_995_000n, yuan)).toBe("−¥5.00");
    expect(formatBalance(1_500_000n, yen)).toBe("¥2");
  });

  it("show a line of a bill with all its digits", () => {
    expect(formatExact(1_221_000n, yuan)).toBe("¥1.221");
    expect(formatExact(833n, yuan)).toBe("¥0.000833");
    expect(formatExact(1_980_000n, yuan)).toBe("¥1.98");
    expect(formatExact(2_000_000n, yuan)).toBe("¥2.00");
    expect(formatExact(0n, yen)).toBe("¥0");
  });

  it("let a running figure be seen to move", () => {
    expect(formatRunning(1_221_049n, yuan)).toBe("¥1.2210");
    expect(formatRunning(1_221_050n, yuan)).toBe("¥1.2211");
  });
});

describe("what a rate comes to", () => {
  it("is the meter's: rounded down, exact for long times", () => {
    expect(costOf(1_980_000n, 37 * 60_000)).toBe(1_221_000n); // example 1 of docs/billing.md
    expect(costOf(100_000n, 30_000)).toBe(833n);
    expect(costOf(1_980_000n, 0)).toBe(0n);
    expect(costOf(1_980_000n, -5)).toBe(0n);
    expect(costOf(13_800_000n, 3_600_000 * 24 * 365)).toBe(13_800_000n * 24n * 365n);
  });
});
