import { expect, it } from "vitest";
import { formatCores, formatSize } from "./size";

it("writes sizes with at most one decimal", () => {
  expect(formatSize(24 * 2 ** 30)).toBe("24 GiB");
  expect(formatSize(1.5 * 2 ** 40)).toBe("1.5 TiB");
  expect(formatSize(512 * 2 ** 20)).toBe("512 MiB");
  expect(formatSize(0)).toBe("0 MiB");
});

it("never promises more processor than there is", () => {
  expect(formatCores(7750)).toBe("7.7");
  expect(formatCores(8000)).toBe("8");
  expect(formatCores(500)).toBe("0.5");
});
