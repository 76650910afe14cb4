import { useQuery } from "@tanstack/react-query";
import { Checkbox } from "antd";
import { useState } from "react";
import { Link } from "react-router-dom";
import { queries } from "../../api/queries";
import type { InstanceView } from "../../api/types";
import { Balance, PerHour } from "../../components/amount";
import { Empty, Loaded, Moment, Page, Panel } from "../../components/basics";
import { LinkButton } from "../../components/link_button";
import { DataTable, type Column } from "../../components/data_table";
import { InstanceState } from "../../components/instance_state";
import { Shape } from "../../components/shape";
import { useSay, type Say } from "../../i18n";
import { toMicro } from "../../lib/money";

function columns(say: Say): Column<InstanceView>[] {
  return [
    {
      name: say("instances.name"),
      lead: true,
      value: (view) => (
        <>
          <Link to={`/instances/${view.id}`} className="strong wrap-anywhere">{view.name}</Link>
          {view.purpose && <div className="soft small wrap-anywhere">{view.purpose}</div>}
        </>
      ),
    },
    { name: say("instances.state"), value: (view) => <InstanceState view={view} /> },
    { name: say("instances.shape"), value: (view) => <Shape view={view} /> },
    {
      name: say("instances.rate"),
      end: true,
      value: (view) =>
        toMicro(view.burn_per_hour) === 0n ? <span className="soft">{say("instance.nothing")}</span> : <PerHour value={view.burn_per_hour} />,
    },
    { name: say("instances.cost"), end: true, value: (view) => <Balance value={view.cost_so_far} /> },
    { name: say("instances.created"), value: (view) => <Moment at={view.created_at} /> },
  ];
}

export default function InstancesPage() {
  const say = useSay();
  const [withGone, setWithGone] = useState(false);
  const instances = useQuery(queries.instances(withGone));
  const create = (
    <LinkButton to="/instances/new">{say("instances.create")}</LinkButton>
  );
  return (
    <Page title={say("instances.title")} actions={create}>
      <Loaded query={instances}>
        {(views) => (
          <Panel flush>
            {views.length ? (
              <DataTable label={say("instances.table")} columns={columns(say)} rows={views} rowKey={(view) => view.id} />
            ) : (
              <Empty action={<Link to="/market">{say("overview.begin.rent.todo")}</Link>}>{say("instances.empty")}</Empty>
            )}
          </Panel>
        )}
      </Loaded>
      <Checkbox checked={withGone} onChange={(event) => setWithGone(event.target.checked)}>{say("instances.gone")}</Checkbox>
    </Page>
  );
}
