// Light or dark: the reader's choice, else the system's. One attribute on <html> for styles.css,
// and the same colours as tokens for antd.
import { theme as antd, type ThemeConfig } from "antd";
import { useSyncExternalStore } from "react";

export type ThemeChoice = "system" | "light" | "dark";

const KEY = "cardhour.theme";
const system = window.matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function apply(): void {
  document.documentElement.dataset.theme = isDark() ? "dark" : "light";
  for (const listener of listeners) listener();
}

function chosen(): ThemeChoice {
  const kept = localStorage.getItem(KEY);
  return kept === "light" || kept === "dark" ? kept : "system";
}

function isDark(): boolean {
  return chosen() === "dark" || (chosen() === "system" && system.matches);
}

export function startTheme(): void {
  system.addEventListener("change", apply);
  apply();
}

export function setTheme(choice: ThemeChoice): void {
  localStorage.setItem(KEY, choice);
  apply();
}

export const useThemeChoice = (): ThemeChoice => useSyncExternalStore(subscribe, chosen);
export const useIsDark = (): boolean => useSyncExternalStore(subscribe, isDark);

const shared = {
  borderRadius: 8,
  fontFamily: "var(--font)",
  controlHeight: 36,
  motion: !window.matchMedia("(prefers-reduced-motion: reduce)").matches,
};

// antd's own grey texts and signal colours have too little contrast for small text.
const light: ThemeConfig = {
  algorithm: antd.defaultAlgorithm,
  token: {
    ...shared,
    colorPrimary: "#0f766e",
    colorInfo: "#0f766e",
    colorLink: "#0f766e",
    colorError: "#b42318",
    colorWarning: "#8a5300",
    colorSuccess: "#1b7a45",
    colorText: "#16202a",
    colorTextDescription: "#52606d",
    colorTextPlaceholder: "#667380",
    colorTextTertiary: "#52606d",
    colorTextDisabled: "#667380",
    colorBorder: "#c9d0d6",
    colorBorderSecondary: "#e2e6e9",
    colorPrimaryBg: "#e3f2f0",
    colorInfoBg: "#eaf4f3",
    colorInfoBorder: "#b9dbd7",
    colorErrorBg: "#fdecea",
    colorErrorBorder: "#f3c3bd",
    colorWarningBg: "#fdf1dc",
    colorWarningBorder: "#eed4a5",
    colorSuccessBg: "#e4f4ea",
    colorSuccessBorder: "#b5dcc4",
  },
};

const dark: ThemeConfig = {
  algorithm: antd.darkAlgorithm,
  token: {
    ...shared,
    colorPrimary: "#4fd1c1",
    colorInfo: "#4fd1c1",
    colorLink: "#4fd1c1",
    colorError: "#ff9187",
    colorWarning: "#f0b95a",
    colorSuccess: "#6cd394",
    colorBgBase: "#171e24",
    colorBgContainer: "#171e24",
    colorBgElevated: "#1d262d",
    colorText: "#e6ecf0",
    colorTextDescription: "#a3b0bb",
    colorTextPlaceholder: "#8b99a5",
    colorTextTertiary: "#a3b0bb",
    colorTextDisabled: "#8b99a5",
    colorBorder: "#45525e",
    colorBorderSecondary: "#2a343d",
    colorTextLightSolid: "#0b1714",
    colorPrimaryBg: "#12332f",
    colorInfoBg: "#13302d",
    colorInfoBorder: "#24524c",
    colorErrorBg: "#3b1815",
    colorErrorBorder: "#6b2e28",
    colorWarningBg: "#35270d",
    colorWarningBorder: "#64491a",
    colorSuccessBg: "#14301f",
    colorSuccessBorder: "#2a5a3b",
  },
  components: { Tooltip: { colorTextLightSolid: "#e6ecf0" } },
};

export function antdTheme(isDarkNow: boolean): ThemeConfig {
  return isDarkNow ? dark : light;
}
