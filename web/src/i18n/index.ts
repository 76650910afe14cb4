// Which language the console speaks: the reader's choice, else the browser's.
import i18next from "i18next";
import { initReactI18next, useTranslation } from "react-i18next";
import { resources, type TextKey, type Values } from "./text";

export type Language = "en" | "zh";
export type Say = (key: TextKey, values?: Values) => string;

const KEY = "cardhour.language";
const ATTRIBUTE: Record<Language, string> = { en: "en", zh: "zh-CN" };

function preferred(): Language {
  const chosen = localStorage.getItem(KEY);
  if (chosen === "en" || chosen === "zh") return chosen;
  return navigator.languages.find((tag) => /^(en|zh)\b/i.test(tag))?.toLowerCase().startsWith("zh") ? "zh" : "en";
}

export function startLanguage(): void {
  const { en, zh } = resources();
  void i18next.use(initReactI18next).init({
    resources: { en: { translation: en }, zh: { translation: zh } },
    lng: preferred(),
    keySeparator: false,
    nsSeparator: false,
    interpolation: { escapeValue: false }, // React escapes
    returnNull: false,
  });
  document.documentElement.lang = ATTRIBUTE[language()];
}

export function language(): Language {
  return i18next.language === "zh" ? "zh" : "en";
}

export function setLanguage(to: Language): void {
  localStorage.setItem(KEY, to);
  document.documentElement.lang = ATTRIBUTE[to];
  void i18next.changeLanguage(to);
}

/** The texts, in a component; it is drawn anew when the language changes. */
export function useSay(): Say {
  return useTranslation().t as Say;
}

export function useLanguage(): Language {
  return useTranslation().i18n.language === "zh" ? "zh" : "en";
}
