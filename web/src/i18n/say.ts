// The texts outside of components, in the language of the moment.
import i18next from "i18next";
import type { TextKey, Values } from "./text";

export function say(key: TextKey, values?: Values): string {
  return i18next.t(key, values ?? {});
}
