import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "react-router-dom";
import { queries } from "../../api/queries";
import type { InstanceView } from "../../api/types";
import { Growing, PerHour, serverMomentOf } from "../../components/amount";
import { Loaded, Page, Panel, Stat } from "../../components/basics";
import { History } from "../../components/history";
import { InstanceState } from "../../components/instance_state";
import { useNow } from "../../components/now";
import { Countdown, spanText } from "../../components/span";
import { useSay } from "../../i18n";
import { toMicro } from "../../lib/money";
import { BillTable } from "../wallet/bill_table";
import { Actions } from "./actions";
import { Connect } from "./connect";
import { Machine } from "./machine";
import { Trouble } from "./trouble";
import { Progress } from "./progress";

export default function InstancePage() {
  const { id = "" } = useParams();
  const query = useQuery(queries.instance(id));
  return (
    <Loaded query={query}>
      {(view) => <InstanceContent view={view} askedAt={serverMomentOf(query.dataUpdatedAt)} />}
    </Loaded>
  );
}

function InstanceContent({ view, askedAt }: { view: InstanceView; askedAt: number }) {
  const say = useSay();
  const events = useQuery(queries.instanceEvents(view.id));
  return (
    <Page
      title={<>{view.name} <span style={{ fontSize: 14, verticalAlign: "middle", display: "inline-block" }}><InstanceState view={view} /></span></>}
      actions={<Actions view={view} />}
    >
      <Trouble view={view} events={events.data} />
      {!view.settled && <Progress view={view} />}
      <Figures view={view} askedAt={askedAt} />
      <div className="columns half">
        <div className="stack">
          {view.observed !== "purged" && <Connect view={view} />}
          <Panel title={say("history.title")}>
            <Loaded query={events}>{(found) => <History events={found} none={say("history.none")} />}</Loaded>
          </Panel>
        </div>
        <Machine view={view} />
      </div>
      <Bill id={view.id} />
      <p><Link to="/instances">{say("instance.back")}</Link></p>
    </Page>
  );
}

function Figures({ view, askedAt }: { view: InstanceView; askedAt: number }) {
  const say = useSay();
  const wallet = useQuery(queries.wallet()).data;
  const isCosting = toMicro(view.burn_per_hour) > 0n;
  const now = useNow(isCosting);
  return (
    <div className="tiles">
      <Stat
        name={say("instance.costs_now")}
        value={isCosting ? <PerHour value={view.burn_per_hour} /> : say("instance.nothing")}
      />
      <Stat name={say("instance.so_far")} value={<Growing value={view.cost_so_far} rate={view.burn_per_hour} at={askedAt} />} />
      {isCosting && view.ready_at && (
        <Stat name={say("instance.runs_for")} value={spanText(say, now - Date.parse(view.ready_at))} />
      )}
      {isCosting && wallet?.runway_ms !== undefined && (
        <Stat name={say("instance.lasts")} value={<Countdown to={Date.parse(wallet.at) + wallet.runway_ms} />} />
      )}
      {view.observed === "in_bin" && view.bin_until && (
        <Stat name={say("instance.in_bin_for")} value={<Countdown to={Date.parse(view.bin_until)} />} />
      )}
    </div>
  );
}

function Bill({ id }: { id: string }) {
  const say = useSay();
  const bill = useQuery(queries.statement({ instance: id }));
  return (
    <Panel title={say("instance.bill")} flush>
      <Loaded query={bill}>
        {(found) =>
          found.lines.length ? (
            <BillTable bill={found} withInstance={false} />
          ) : (
            <p className="soft" style={{ padding: "0 20px 16px" }}>{say("instance.bill.none")}</p>
          )
        }
      </Loaded>
    </Panel>
  );
}
