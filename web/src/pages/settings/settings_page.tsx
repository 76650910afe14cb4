import { Page, Panel, Facts, Moment } from "../../components/basics";
import { LanguageSwitch, ThemeSwitch } from "../../components/switches";
import { useSay } from "../../i18n";
import { useMe } from "../../session/me";
import { Keys } from "./keys";
import { Password } from "./password";
import { Tokens } from "./tokens";

export default function SettingsPage() {
  const say = useSay();
  const account = useMe()?.account;
  return (
    <Page title={say("settings.title")}>
      <div className="columns half">
        <div className="stack">
          <Panel title={say("settings.account")}>
            {account && (
              <Facts
                facts={[
                  { name: say("settings.login"), value: account.login },
                  { name: say("settings.role"), value: say(`role.${account.role}`) },
                  { name: say("settings.since"), value: <Moment at={account.created_at} /> },
                ]}
              />
            )}
          </Panel>
          <Panel title={say("settings.look")}>
            <div className="stack tight" style={{ alignItems: "flex-start" }}>
              <LanguageSwitch />
              <ThemeSwitch />
            </div>
          </Panel>
          <Password />
        </div>
        <Keys />
      </div>
      <Tokens />
    </Page>
  );
}
