// Language and appearance.
import { Segmented } from "antd";
import { setLanguage, useLanguage, useSay } from "../i18n";
import { setTheme, useThemeChoice } from "../theme";

export function LanguageSwitch() {
  const say = useSay();
  return (
    <Segmented
      size="small"
      aria-label={say("language.label")}
      value={useLanguage()}
      onChange={setLanguage}
      options={[{ value: "zh", label: "中文" }, { value: "en", label: "English" }]}
    />
  );
}

export function ThemeSwitch() {
  const say = useSay();
  return (
    <Segmented
      aria-label={say("theme.label")}
      value={useThemeChoice()}
      onChange={setTheme}
      options={[
        { value: "system", label: say("theme.system") },
        { value: "light", label: say("theme.light") },
        { value: "dark", label: say("theme.dark") },
      ]}
    />
  );
}
