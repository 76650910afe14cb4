// Amounts as the API writes them: decimal text with up to six places, in the deployment's
// currency. Calculations are done in micro-units as BigInt, never as floating point.

export interface Currency {
  code: string;
  symbol: string;
  decimals: number;
}

const PLACES = 6;
const MS_PER_HOUR = 3_600_000n;

/** "1.98" to 1980000n. Throws on what is not an amount: the API never sends that. */
export function toMicro(decimal: string): bigint {
  const match = /^(-?)(\d+)(?:\.(\d{1,6}))?$/.exec(decimal);
  if (!match) throw new Error(`not an amount: ${decimal}`);
  const micro = BigInt(match[2]!) * 1_000_000n + BigInt((match[3] ?? "").padEnd(PLACES, "0"));
  return match[1] ? -micro : micro;
}

/** What a person typed, or undefined when it is not an amount. */
export function parseAmount(typed: string): bigint | undefined {
  const plain = typed.trim();
  return /^\d+(\.\d{1,6})?$/.test(plain) ? toMicro(plain) : undefined;
}

/** 1980000n to "1.980000". */
export function toDecimal(micro: bigint): string {
  const negative = micro < 0n;
  const digits = (negative ? -micro : micro).toString().padStart(PLACES + 1, "0");
  return `${negative ? "-" : ""}${digits.slice(0, -PLACES)}.${digits.slice(-PLACES)}`;
}

function roundTo(micro: bigint, places: number): bigint {
  const unit = 10n ** BigInt(PLACES - places);
  const size = micro < 0n ? -micro : micro;
  const rounded = ((size + unit / 2n) / unit) * unit;
  return micro < 0n ? -rounded : rounded;
}

function group(whole: string): string {
  return whole.replace(/\B(?=(\d{3})+$)/g, ",");
}

function write(micro: bigint, currency: Currency, placesMin: number): string {
  const negative = micro < 0n;
  const [whole = "0", fraction = ""] = toDecimal(negative ? -micro : micro).split(".");
  let kept = fraction;
  while (kept.length > placesMin && kept.endsWith("0")) kept = kept.slice(0, -1);
  return `${negative ? "−" : ""}${currency.symbol}${group(whole)}${kept ? `.${kept}` : ""}`;
}

/** A balance or a total: rounded once, half up, to the currency's places. */
export function formatBalance(micro: bigint, currency: Currency): string {
  return write(roundTo(micro, currency.decimals), currency, currency.decimals);
}

/** A price or a line of a bill: all its digits, at least the currency's places. */
export function formatExact(micro: bigint, currency: Currency): string {
  return write(micro, currency, currency.decimals);
}

/** A running figure: two places more than the currency has, so that one sees it move. */
export function formatRunning(micro: bigint, currency: Currency): string {
  const places = Math.min(currency.decimals + 2, PLACES);
  return write(roundTo(micro, places), currency, places);
}

/** What an hourly rate comes to in a time; rounded down as the meter does. */
export function costOf(ratePerHour: bigint, ms: number): bigint {
  return (ratePerHour * BigInt(Math.max(0, Math.floor(ms)))) / MS_PER_HOUR;
}
