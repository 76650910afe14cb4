// Lengths of time in words, and those that run down.
import type { Say } from "../i18n";
import { useSay } from "../i18n";
import { spanOf } from "../lib/time";
import { useNow } from "./now";

export function spanText(say: Say, ms: number): string {
  const span = spanOf(ms);
  if (span.days) return say("span.days", { days: span.days, hours: span.hours });
  if (span.hours) return say("span.hours", { hours: span.hours, minutes: span.minutes });
  if (span.minutes) return say("span.minutes", { minutes: span.minutes, seconds: span.seconds });
  return say("span.seconds", { seconds: span.seconds });
}

/** To the second, and to the millisecond where there are some: a bill is checked with it. */
export function exactSpan(say: Say, ms: number): string {
  const { days, hours, minutes, seconds } = spanOf(ms);
  const rest = ms % 1000 ? `.${String(ms % 1000).padStart(3, "0")}` : "";
  return say("span.exact", {
    hours: days * 24 + hours,
    minutes: String(minutes).padStart(2, "0"),
    seconds: `${String(seconds).padStart(2, "0")}${rest}`,
  });
}

export function Countdown({ to }: { to: number }) {
  return <span className="figure">{spanText(useSay(), to - useNow())}</span>;
}
