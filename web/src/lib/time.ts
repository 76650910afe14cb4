// Moments come as RFC 3339 in UTC and are shown in the browser's zone. What the server's clock
// says is kept here, since a countdown by a wrong clock of the browser would be wrong too.

let offsetMs = 0;

/** Takes the Date header of an answer, which is exact to a second. */
export function noteServerDate(header: string | null): void {
  if (!header) return;
  const behind = Date.parse(header) + 500 - Date.now();
  if (Number.isFinite(behind)) offsetMs = Math.abs(behind) < 2_000 ? 0 : behind;
}

export function serverNow(): number {
  return Date.now() + offsetMs;
}

export interface Span {
  days: number;
  hours: number;
  minutes: number;
  seconds: number;
}

export function spanOf(ms: number): Span {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  return {
    days: Math.floor(seconds / 86_400),
    hours: Math.floor((seconds % 86_400) / 3600),
    minutes: Math.floor((seconds % 3600) / 60),
    seconds: seconds % 60,
  };
}

const pad = (value: number) => String(value).padStart(2, "0");

/** "2026-11-03 10:30:05" in the browser's zone: the same in both languages. */
export function formatMoment(iso: string): string {
  const at = new Date(iso);
  const day = `${at.getFullYear()}-${pad(at.getMonth() + 1)}-${pad(at.getDate())}`;
  return `${day} ${pad(at.getHours())}:${pad(at.getMinutes())}:${pad(at.getSeconds())}`;
}

/** "2026-11-03 02:30:05 UTC". */
export function formatUtc(iso: string): string {
  return `${new Date(iso).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

/** "+08:00", of the browser at that moment. */
export function zoneOf(at: Date): string {
  const minutes = -at.getTimezoneOffset();
  const size = Math.abs(minutes);
  return `${minutes < 0 ? "−" : "+"}${pad(Math.floor(size / 60))}:${pad(size % 60)}`;
}

export interface Month {
  year: number;
  month: number; // 1 to 12
}

export function monthOf(at: Date): Month {
  return { year: at.getFullYear(), month: at.getMonth() + 1 };
}

export function monthText({ year, month }: Month): string {
  return `${year}-${pad(month)}`;
}

/** The month and those before it, newest first. */
export function monthsBack(from: Month, count: number): Month[] {
  return Array.from({ length: count }, (_, back) =>
    monthOf(new Date(from.year, from.month - 1 - back, 1)));
}

/** Its first moment and that of the next, in the browser's zone, as the API takes them. */
export function monthRange({ year, month }: Month): { from: string; to: string } {
  return { from: new Date(year, month - 1, 1).toISOString(), to: new Date(year, month, 1).toISOString() };
}
