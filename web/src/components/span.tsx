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

export function Countdown({ to }: { to: number }) {
  return <span className="figure">{spanText(useSay(), to - useNow())}</span>;
}
