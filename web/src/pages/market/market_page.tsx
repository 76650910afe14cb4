import { useQuery } from "@tanstack/react-query";
import { Button, Checkbox, Input, Segmented } from "antd";
import { Link, useNavigate, useSearchParams } from "react-router-dom";
import { queries } from "../../api/queries";
import type { OfferView } from "../../api/types";
import { PerHour, useCurrency } from "../../components/amount";
import { Badge, Empty, Loaded, Page, Panel, Simulated } from "../../components/basics";
import { DataTable, type Column } from "../../components/data_table";
import { useSay, type Say } from "../../i18n";
import { formatExact, toMicro } from "../../lib/money";
import { formatCores, formatSize, GIB } from "../../lib/size";
import { sorted, type OfferFilter, visible } from "./offers";

const VRAM_STEPS_GIB = [0, 12, 16, 24, 40, 48, 80];

function columns(say: Say, rent: (offer: OfferView) => void): Column<OfferView>[] {
  return [
    {
      name: say("market.vram"),
      value: (offer) => <span className="vram">{formatSize(offer.gpu.vram_bytes)}</span>,
    },
    {
      name: say("market.model"),
      value: (offer) => (
        <span className="row" style={{ gap: 6, justifyContent: "inherit" }}>
          <span className="strong">{offer.gpu.name}</span>
          {offer.simulated && <Simulated />}
          {offer.gpu.warning && <span className="soft small">{offer.gpu.warning}</span>}
        </span>
      ),
    },
    { name: say("market.free"), value: (offer) => <Free offer={offer} /> },
    { name: say("market.price"), value: (offer) => <span className="strong"><PerHour value={offer.on_demand_per_hour} /></span>, end: true },
    {
      name: say("market.per_card"),
      value: (offer) =>
        say("market.cores", {
          cores: formatCores(offer.millicores_per_card),
          memory: formatSize(offer.memory_per_card_bytes),
        }),
    },
    {
      name: say("market.speed"),
      value: (offer) => (
        <>
          <div className="figure">{say("market.bandwidth", { value: offer.gpu.bandwidth_gb_per_s })}</div>
          <div className="figure soft small">{say("market.fp16", { value: offer.gpu.fp16_tflops })}</div>
        </>
      ),
    },
    {
      name: say("market.host"),
      value: (offer) => (
        <>
          <div>{offer.host}</div>
          <div className="soft small wrap-anywhere">
            {say("market.driver", { driver: offer.driver_version.replace("-SIMULATED", ""), cuda: offer.cuda_version })}
          </div>
        </>
      ),
    },
    {
      name: say("market.rent.act"),
      unnamed: true,
      end: true,
      value: (offer) => (
        <Button
          type="primary"
          disabled={offer.cards_free === 0 || !offer.reachable}
          aria-label={say("market.rent.what", { model: offer.gpu.name, host: offer.host })}
          onClick={() => rent(offer)}
        >
          {say("market.rent")}
        </Button>
      ),
    },
  ];
}

function Free({ offer }: { offer: OfferView }) {
  const say = useSay();
  if (!offer.reachable) return <Badge tone="warn">{say("market.silent")}</Badge>;
  if (offer.cards_free === 0) return <Badge tone="calm">{say("market.none_free")}</Badge>;
  return <Badge tone="good">{say("market.free.of", { free: offer.cards_free, total: offer.cards_total })}</Badge>;
}

/** The filters are in the address: a choice can be linked to, and is there after "back". */
function useFilter(): [OfferFilter, (change: Partial<OfferFilter>) => void] {
  const [search, setSearch] = useSearchParams();
  const filter: OfferFilter = {
    vramGib: Number(search.get("vram")) || 0,
    text: search.get("model") ?? "",
    onlyFree: search.has("free"),
  };
  const change = (part: Partial<OfferFilter>) => {
    const next = { ...filter, ...part };
    const words: Record<string, string> = {};
    if (next.vramGib) words.vram = String(next.vramGib);
    if (next.text) words.model = next.text;
    if (next.onlyFree) words.free = "1";
    setSearch(words, { replace: true });
  };
  return [filter, change];
}

export default function MarketPage() {
  const say = useSay();
  const offers = useQuery(queries.offers());
  const navigate = useNavigate();
  const [filter, setFilter] = useFilter();
  const steps = VRAM_STEPS_GIB.includes(filter.vramGib) ? VRAM_STEPS_GIB : [...VRAM_STEPS_GIB, filter.vramGib].sort((a, b) => a - b);
  const rent = (offer: OfferView) => navigate(`/instances/new?model=${encodeURIComponent(offer.model)}`);
  return (
    <Page title={say("market.title")}>
      <div className="card row" style={{ gap: 16 }}>
        <div className="row" role="group" aria-label={say("market.vram.filter")}>
          <span className="soft">{say("market.vram.filter")}</span>
          <div style={{ maxWidth: "100%", overflowX: "auto" }}>
            <Segmented
              value={filter.vramGib}
              onChange={(vramGib) => setFilter({ vramGib })}
              options={steps.map((gib) => ({ value: gib, label: gib ? formatSize(gib * GIB).replace(" GiB", "G") : say("market.vram.any") }))}
            />
          </div>
        </div>
        <Input
          allowClear
          style={{ width: 200 }}
          value={filter.text}
          placeholder={say("market.search")}
          aria-label={say("market.search")}
          onChange={(event) => setFilter({ text: event.target.value })}
        />
        <Checkbox checked={filter.onlyFree} onChange={(event) => setFilter({ onlyFree: event.target.checked })}>
          {say("market.only_free")}
        </Checkbox>
      </div>
      <Loaded query={offers}>
        {(found) => {
          const rows = sorted(visible(found, filter));
          return (
            <>
              <Panel flush>
                {rows.length ? (
                  <DataTable
                    label={say("market.table")}
                    columns={columns(say, rent)}
                    rows={rows}
                    rowKey={(offer) => `${offer.host_id} ${offer.model}`}
                  />
                ) : (
                  <Empty>{say(found.length ? "market.empty.filter" : "market.empty")}</Empty>
                )}
              </Panel>
              {found[0] && <WithoutCard price={found[0].no_gpu_per_hour} />}
            </>
          );
        }}
      </Loaded>
    </Page>
  );
}

function WithoutCard({ price }: { price: string }) {
  const say = useSay();
  const currency = useCurrency();
  return (
    <div className="card row apart">
      <p style={{ flex: "1 1 320px" }}>{say("market.no_gpu", { price: formatExact(toMicro(price), currency) })}</p>
      <Link to="/instances/new?mode=no_gpu">{say("market.no_gpu.create")}</Link>
    </div>
  );
}
