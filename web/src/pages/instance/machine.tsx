// What the instance is.
import type { InstanceView } from "../../api/types";
import { PerHour } from "../../components/amount";
import { Facts, Moment, Panel } from "../../components/basics";
import { Shape } from "../../components/shape";
import { useSay } from "../../i18n";
import { formatCores, formatSize } from "../../lib/size";

export function Machine({ view }: { view: InstanceView }) {
  const say = useSay();
  return (
    <Panel title={say("facts.title")}>
      <Facts
        facts={[
          { name: say("instances.shape"), value: <Shape view={view} /> },
          { name: say("facts.rate"), value: <PerHour value={view.rate_per_hour} /> },
          view.mode === "on_demand" && {
            name: say("facts.cards"),
            value: view.cards.length
              ? view.cards.map((uuid) => <div key={uuid} className="mono">{uuid}</div>)
              : <span className="soft">{say("facts.none")}</span>,
          },
          { name: say("facts.cpu"), value: say("facts.cores", { cores: formatCores(view.millicores) }) },
          { name: say("facts.memory"), value: formatSize(view.memory_bytes) },
          { name: say("facts.system_disk"), value: formatSize(view.system_disk_bytes) },
          { name: say("facts.data_disk"), value: formatSize(view.data_disk_bytes) },
          { name: say("facts.image"), value: view.image },
          view.nesting && { name: say("facts.nesting"), value: say("facts.yes") },
          !!view.purpose && { name: say("facts.purpose"), value: view.purpose },
          { name: say("facts.created"), value: <Moment at={view.created_at} /> },
          !!view.ready_at && { name: say("facts.ready"), value: <Moment at={view.ready_at} /> },
          !!view.stopped_at && { name: say("facts.stopped"), value: <Moment at={view.stopped_at} /> },
          { name: say("facts.id"), value: <span className="mono">{view.id}</span> },
        ]}
      />
    </Panel>
  );
}
