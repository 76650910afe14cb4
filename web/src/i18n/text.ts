// Every text of the console, in both languages side by side: one cannot be added without the
// other. A text that counts has an English singular too: [one, many, Chinese].
import { advisor } from "./words/advisor";
import { common } from "./words/common";
import { instance } from "./words/instance";
import { market } from "./words/market";
import { money } from "./words/money";
import { operator } from "./words/operator";
import { settings } from "./words/settings";
import { vocabulary } from "./words/vocabulary";

export const texts = {
  ...advisor,
  ...common,
  ...instance,
  ...market,
  ...money,
  ...operator,
  ...settings,
  ...vocabulary,
} as const;

export type TextKey = keyof typeof texts;
export type Values = Record<string, string | number>;

/** The form that i18next takes: its plural suffixes for texts that count. */
export function resources(): { en: Record<string, string>; zh: Record<string, string> } {
  const en: Record<string, string> = {};
  const zh: Record<string, string> = {};
  for (const [key, text] of Object.entries<readonly string[]>(texts)) {
    if (text.length === 3) {
      en[`${key}_one`] = text[0]!;
      en[`${key}_other`] = text[1]!;
      zh[`${key}_other`] = text[2]!;
    } else {
      en[key] = text[0]!;
      zh[key] = text[1]!;
    }
  }
  return { en, zh };
}
