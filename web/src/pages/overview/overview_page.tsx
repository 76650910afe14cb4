import { CheckCircleOutlined, RightCircleOutlined } from "@ant-design/icons";
import { useQuery } from "@tanstack/react-query";
import { Alert } from "antd";
import type { ReactNode } from "react";
import { Link } from "react-router-dom";
import { queries } from "../../api/queries";
import type { InstanceView } from "../../api/types";
import { Loaded, Page, Panel } from "../../components/basics";
import { History } from "../../components/history";
import { InstanceState } from "../../components/instance_state";
import { PerHour } from "../../components/amount";
import { LinkButton } from "../../components/link_button";
import { Shape } from "../../components/shape";
import { useNow } from "../../components/now";
import { spanText } from "../../components/span";
import { useSay } from "../../i18n";
import { toMicro } from "../../lib/money";
import { formatMoment } from "../../lib/time";
import { WalletStats } from "../wallet/wallet_stats";

const LOW_RUNWAY_MS = 3_600_000;

/** Everything that will not solve itself, worst first. */
function Attention({ instances }: { instances: InstanceView[] }) {
  const say = useSay();
  const wallet = useQuery(queries.wallet()).data;
  const now = useNow();
  const items: ReactNode[] = [];
  const runway = wallet?.runway_ms === undefined ? undefined : Date.parse(wallet.at) + wallet.runway_ms - now;
  if (runway !== undefined && runway < LOW_RUNWAY_MS) {
    items.push(<Alert key="runway" type="warning" showIcon message={say("overview.low", { span: spanText(say, runway) })} />);
  }
  for (const view of instances) {
    const name = <Link to={`/instances/${view.id}`}>{view.name}</Link>;
    if (view.fault) {
      items.push(<Alert key={`f${view.id}`} type="error" showIcon message={<>{name}: {view.fault.what}</>} description={view.fault.next} />);
    }
    if (!view.reachable) {
      items.push(<Alert key={`s${view.id}`} type="warning" showIcon message={<>{name}: {say("instance.silent.title")}</>} description={say("instance.silent.text")} />);
    }
    if (view.observed === "in_bin" && view.bin_until) {
      items.push(<Alert key={`b${view.id}`} type="info" showIcon message={say("overview.bin", { name: view.name, until: formatMoment(view.bin_until) })} action={<Link to={`/instances/${view.id}`}>{say("do.restore")}</Link>} />);
    }
  }
  return (
    <Panel title={say("overview.attention")}>
      {items.length ? <div className="stack tight">{items}</div> : <p className="soft">{say("overview.all_well")}</p>}
    </Panel>
  );
}

function Running({ instances }: { instances: InstanceView[] }) {
  const say = useSay();
  const running = instances.filter((view) => !["stopped", "in_bin", "purged"].includes(view.observed));
  const stopped = instances.filter((view) => view.observed === "stopped").length;
  return (
    <Panel title={say("overview.running")} actions={<Link to="/instances">{say("instance.back")}</Link>}>
      {running.length === 0 && <p className="soft">{say("overview.running.none")}</p>}
      <ul className="list">
        {running.map((view) => (
          <li key={view.id} className="row apart">
            <div>
              <Link to={`/instances/${view.id}`} className="strong wrap-anywhere">{view.name}</Link>
              <div className="soft small"><Shape view={view} /> · <PerHour value={view.burn_per_hour} /></div>
            </div>
            <InstanceState view={view} />
          </li>
        ))}
      </ul>
      {stopped > 0 && <p className="soft small" style={{ marginTop: 12 }}>{say("overview.stopped", { count: stopped })}</p>}
    </Panel>
  );
}

/** What is left to do until the first instance runs. */
function Begin({ hasInstance }: { hasInstance: boolean }) {
  const say = useSay();
  const wallet = useQuery(queries.wallet()).data;
  const keys = useQuery(queries.sshKeys()).data;
  const steps = [
    { done: !!wallet && toMicro(wallet.available) > 0n, name: say("overview.begin.money"), todo: say("overview.begin.money.todo"), to: "/wallet" },
    { done: !!keys?.length, name: say("overview.begin.key"), todo: say("overview.begin.key.todo"), to: "/settings" },
    { done: hasInstance, name: say("overview.begin.rent"), todo: say("overview.begin.rent.todo"), to: "/market" },
  ];
  if (!wallet || !keys || hasInstance) return null;
  return (
    <Panel title={say("overview.begin")}>
      <ul className="steps">
        {steps.map((step) => (
          <li key={step.to} className={step.done ? "done" : "now"}>
            <span className="mark">{step.done ? <CheckCircleOutlined aria-hidden /> : <RightCircleOutlined aria-hidden />}</span>
            <span>
              {step.name}
              {!step.done && <> · <Link to={step.to}>{step.todo}</Link></>}
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

export default function OverviewPage() {
  const say = useSay();
  const instances = useQuery(queries.instances());
  const events = useQuery(queries.events());
  return (
    <Page
      title={say("overview.title")}
      actions={<LinkButton to="/market">{say("instances.create")}</LinkButton>}
    >
      <WalletStats />
      <Loaded query={instances}>
        {(views) => (
          <>
            <Begin hasInstance={views.length > 0} />
            <div className="columns half">
              <Running instances={views} />
              <Attention instances={views} />
            </div>
          </>
        )}
      </Loaded>
      <Panel title={say("overview.recent")}>
        <Loaded query={events}>
          {(found) => <History events={found.slice(-10)} instances={instances.data} none={say("overview.recent.none")} />}
        </Loaded>
      </Panel>
    </Page>
  );
}
