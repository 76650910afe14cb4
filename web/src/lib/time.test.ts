import { afterEach, describe, expect, it, vi } from "vitest";
import { formatUtc, monthRange, monthsBack, noteServerDate, serverNow, spanOf } from "./time";

afterEach(() => {
  vi.useRealTimers();
  noteServerDate(new Date().toUTCString());
});

describe("months", () => {
  it("go back over the turn of the year", () => {
    expect(monthsBack({ year: 2026, month: 2 }, 3)).toEqual([
      { year: 2026, month: 2 }, { year: 2026, month: 1 }, { year: 2025, month: 12 },
    ]);
  });

  it("touch without gap or overlap", () => {
    expect(monthRange({ year: 2026, month: 12 }).to).toBe(monthRange({ year: 2027, month: 1 }).from);
  });

  it("begin at midnight of the browser's zone", () => {
    const from = new Date(monthRange({ year: 2026, month: 11 }).from);
    expect([from.getFullYear(), from.getMonth(), from.getDate(), from.getHours()]).toEqual([2026, 10, 1, 0]);
  });
});

describe("spans", () => {
  it("are never negative", () => {
    expect(spanOf(-1)).toEqual({ days: 0, hours: 0, minutes: 0, seconds: 0 });
    expect(spanOf(90_061_999)).toEqual({ days: 1, hours: 1, minutes: 1, seconds: 1 });
  });
});

describe("the server's clock", () => {
  it("is followed when the browser's is wrong by more than a request takes", () => {
    vi.useFakeTimers({ now: Date.parse("2026-12-01T00:00:00Z") });
    noteServerDate("Tue, 01 Dec 2026 00:10:00 GMT");
    expect(serverNow() - Date.now()).toBe(600_500);
    noteServerDate("Tue, 01 Dec 2026 00:00:01 GMT");
    expect(serverNow()).toBe(Date.now());
    noteServerDate("nonsense");
    expect(serverNow()).toBe(Date.now());
  });

  it("is written in UTC on request", () => {
    expect(formatUtc("2026-11-03T02:30:05.123Z")).toBe("2026-11-03 02:30:05 UTC");
  });
});
