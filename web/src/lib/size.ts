// Sizes in bytes, shown as powers of 1024.

export const GIB = 2 ** 30;

/** "24 GiB", "1.5 TiB", "512 MiB": at most one decimal. */
export function formatSize(bytes: number): string {
  for (const [unit, name] of [[2 ** 40, "TiB"], [GIB, "GiB"], [2 ** 20, "MiB"]] as const) {
    if (bytes >= unit || name === "MiB") return `${trimmed(bytes / unit)} ${name}`;
  }
  return `${bytes}`;
}

/** 7750 to "7.7": what is promised is never rounded up. */
export function formatCores(millicores: number): string {
  return trimmed(Math.floor(millicores / 100) / 10);
}

function trimmed(value: number): string {
  return value.toFixed(1).replace(/\.0$/, "");
}
