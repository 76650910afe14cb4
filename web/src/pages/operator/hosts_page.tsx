import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router-dom";
import { queries } from "../../api/queries";
import type { CardView, HostView, InstanceView } from "../../api/types";
import { Badge, Empty, Facts, Loaded, Moment, Page, Panel, Simulated, Stat, type Tone } from "../../components/basics";
import { useModelName } from "../../components/shape";
import { wordFor } from "../../components/words";
import { useSay } from "../../i18n";
import { formatSize } from "../../lib/size";
import { cardState, countCards, type CardState } from "./card_state";

const TONE: Record<CardState, Tone> = {
  free: "good", rented: "calm", promised: "busy", sick: "bad", absent: "warn", quarantine: "bad", excluded: "warn", unfit: "warn",
};

function CardTile({ card, instance }: { card: CardView; instance: InstanceView | undefined }) {
  const say = useSay();
  const nameOf = useModelName();
  const state = cardState(card, instance);
  return (
    <li className={`card-tile ${state}`}>
      <div className="row apart">
        <span className="strong">{say("hosts.card", { index: card.card_index })}</span>
        <Badge tone={TONE[state]}>{wordFor(say, "card", state)}</Badge>
      </div>
      <div className="small">
        {nameOf(card.model)} · {formatSize(card.vram_bytes)}
      </div>
      {card.instance_id && (
        <div className="small wrap-anywhere">
          {card.renter} · <Link to={`/instances/${card.instance_id}`}>{instance?.name ?? card.instance_id}</Link>
        </div>
      )}
      {card.fault && <div className="small wrap-anywhere">{card.fault}</div>}
      <div className="mono soft wrap-anywhere">{card.pci_address}</div>
      {card.simulated && <div><Simulated /></div>}
    </li>
  );
}

function HostPanel({ host, cards, instances }: { host: HostView; cards: CardView[]; instances: InstanceView[] }) {
  const say = useSay();
  return (
    <Panel
      title={host.name}
      actions={<Badge tone={host.reachable ? "good" : "bad"}>{say(host.reachable ? "hosts.reachable" : "hosts.silent")}</Badge>}
    >
      <div className="stack">
        <ul className="cards-map" aria-label={say("hosts.map", { host: host.name })}>
          {cards.map((card) => (
            <CardTile key={card.uuid} card={card} instance={instances.find((each) => each.id === card.instance_id)} />
          ))}
        </ul>
        <Facts
          facts={[
            !!host.last_seen_at && { name: say("hosts.seen"), value: <Moment at={host.last_seen_at} /> },
            { name: say("hosts.cpu"), value: say("hosts.cores", { count: host.cpu_total }) },
            { name: say("hosts.memory"), value: formatSize(host.memory_bytes) },
            {
              name: say("hosts.pool"),
              value: say("hosts.pool.value", { used: formatSize(host.pool_used_bytes), total: formatSize(host.pool_total_bytes) }),
            },
            { name: say("hosts.driver"), value: say("hosts.driver.value", { driver: host.driver_version, cuda: host.cuda_version }) },
          ]}
        />
      </div>
    </Panel>
  );
}

export default function HostsPage() {
  const say = useSay();
  const hosts = useQuery(queries.operatorHosts());
  const cards = useQuery(queries.operatorCards());
  const instances = useQuery(queries.operatorInstances()).data ?? [];
  return (
    <Page title={say("hosts.title")}>
      <Loaded query={cards}>
        {(found) => {
          const counts = countCards(found, instances);
          return (
            <div className="tiles">
              <Stat name={say("hosts.cards.total")} value={found.length} />
              <Stat name={say("hosts.free")} value={counts.free} />
              <Stat name={say("hosts.rented")} value={counts.rented} />
              <Stat name={say("hosts.promised")} value={counts.promised} />
              <Stat name={say("hosts.trouble")} value={counts.sick + counts.absent} />
              <Stat name={say("hosts.out")} value={counts.quarantine + counts.excluded + counts.unfit} />
            </div>
          );
        }}
      </Loaded>
      <Loaded query={hosts}>
        {(found) =>
          found.length ? (
            <>
              {found.map((host) => (
                <HostPanel
                  key={host.id}
                  host={host}
                  instances={instances}
                  cards={(cards.data ?? [])
                    .filter((card) => card.host_id === host.id)
                    .sort((a, b) => a.card_index - b.card_index)}
                />
              ))}
            </>
          ) : (
            <Panel><Empty>{say("hosts.none")}</Empty></Panel>
          )
        }
      </Loaded>
    </Page>
  );
}
