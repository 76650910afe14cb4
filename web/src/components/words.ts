// The API's closed words in the reader's language. A word that this console does not know yet
// (a newer server) is shown as it came.
import type { InstanceView } from "../api/types";
import type { Say } from "../i18n";
import { texts, type TextKey } from "../i18n/text";
import type { Tone } from "./basics";

function known(key: string): key is TextKey {
  return key in texts;
}

export function wordFor(say: Say, kind: "phase" | "event" | "token" | "card" | "scope", word: string): string {
  const key = `${kind}.${word}`;
  return known(key) ? say(key) : word;
}

export function reasonText(say: Say, reason: string): string {
  if (known(`cause.${reason}`)) return say(`cause.${reason}` as TextKey);
  if (known(`reason.${reason}`)) return say(`reason.${reason}` as TextKey);
  return reason;
}

export function stateText(say: Say, view: InstanceView): string {
  return say(`state.${view.observed}`);
}

export function stateTone(view: InstanceView): Tone {
  if (!view.reachable) return "warn";
  if (view.observed === "running") return view.settled ? "good" : "busy";
  if (["creating", "starting", "stopping", "releasing"].includes(view.observed)) return "busy";
  if (view.observed === "in_bin") return "warn";
  return "calm";
}
