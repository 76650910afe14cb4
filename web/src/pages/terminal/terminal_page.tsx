import { PlusOutlined } from "@ant-design/icons";
import { useQuery } from "@tanstack/react-query";
import { Alert, Button, Segmented } from "antd";
import { useRef, useState } from "react";
import { Link, useParams } from "react-router-dom";
import { queries } from "../../api/queries";
import type { InstanceView } from "../../api/types";
import { Badge, Loaded, Page, type Tone } from "../../components/basics";
import { useSay, type Say } from "../../i18n";
import type { LinkState } from "./link";
import { Screen, type Outcome } from "./screen";

interface Tab {
  number: number;
  state: LinkState;
  outcome: Outcome;
  isClosing: boolean;
}

const TONE: Record<LinkState, Tone> = { connecting: "busy", open: "good", lost: "warn", ended: "calm" };

function outcomeText(say: Say, { exit, refused }: Outcome): string | undefined {
  if (refused) return say(`terminal.refused.${refused}`);
  if (!exit) return undefined;
  return exit.code === null
    ? say("terminal.exit.no_code", { reason: exit.reason })
    : say("terminal.exit", { code: exit.code });
}

export default function TerminalPage() {
  const say = useSay();
  const { id = "" } = useParams();
  const query = useQuery(queries.instance(id));
  return (
    <Loaded query={query}>
      {(view) => (
        <Page title={say("terminal.title", { name: view.name })} actions={<Link to={`/instances/${id}`}>{say("terminal.back", { name: view.name })}</Link>}>
          <Terminals view={view} />
        </Page>
      )}
    </Loaded>
  );
}

function Terminals({ view }: { view: InstanceView }) {
  const say = useSay();
  const next = useRef(2);
  const fresh = (number: number): Tab => ({ number, state: "connecting", outcome: {}, isClosing: false });
  const [tabs, setTabs] = useState<Tab[]>(() => (view.observed === "running" ? [fresh(1)] : []));
  const [shown, setShown] = useState(1);
  const change = (number: number, part: Partial<Tab>) =>
    setTabs((before) => before.map((tab) => (tab.number === number ? { ...tab, ...part } : tab)));
  const open = () => {
    const number = next.current++;
    setTabs((before) => [...before, fresh(number)]);
    setShown(number);
  };
  const current = tabs.find((tab) => tab.number === shown);
  const close = (tab: Tab) => {
    change(tab.number, { isClosing: true });
    const left = tabs.filter((each) => each !== tab);
    // After the effect that ends the shell.
    setTimeout(() => setTabs((before) => before.filter((each) => each.number !== tab.number)));
    setShown(left.at(-1)?.number ?? 0);
  };
  const text = current && outcomeText(say, current.outcome);
  return (
    <div className="terminal-page">
      <div className="row">
        {tabs.length > 0 && (
          <Segmented
            aria-label={say("terminal.title", { name: view.name })}
            value={shown}
            onChange={setShown}
            options={tabs.map((tab) => ({ value: tab.number, label: say("terminal.tab", { number: tab.number }) }))}
          />
        )}
        <Button icon={<PlusOutlined aria-hidden />} disabled={view.observed !== "running"} onClick={open}>{say("terminal.new")}</Button>
        {current && (
          <>
            <span role="status"><Badge tone={TONE[current.state]}>{say(`terminal.${current.state}`)}</Badge></span>
            <Button type="text" onClick={() => close(current)}>{say("terminal.close")}</Button>
          </>
        )}
      </div>
      {text && <Alert type="info" showIcon message={text} />}
      {view.observed !== "running" && !tabs.length && <Alert type="info" showIcon message={say("terminal.need_running")} />}
      {tabs.map((tab) => (
        <Screen
          key={tab.number}
          instance={view.id}
          isShown={tab.number === shown}
          isClosing={tab.isClosing}
          onState={(state) => change(tab.number, { state })}
          onOutcome={(outcome) => change(tab.number, { outcome })}
        />
      ))}
    </div>
  );
}
