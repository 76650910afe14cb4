import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { queries } from "../../api/queries";
import type { CostRequest, CostRowView } from "../../api/types";
import { Balance } from "../../components/amount";
import { Badge, Facts, Loaded, Panel } from "../../components/basics";
import { DataTable, type Column } from "../../components/data_table";
import { useSay, type Say } from "../../i18n";
import { useSettled } from "../../lib/use_settled";
import { Conclusion, Formulas, RentLink, Sentences, shapeText, Topic } from "./answer";
import { GpuField, NumberField } from "./fields";
import { Plans } from "./plans";

function columns(say: Say): Column<CostRowView>[] {
  return [
    { name: say("advisor.card"), lead: true, value: (row) => <span className="strong">{shapeText(row.cards, row.gpu_name)}</span> },
    {
      name: say("advisor.pay"),
      value: (row) => (
        <>
          {say(`pay.${row.mode}`)}
          {!row.for_sale && <> <Badge tone="calm">{say("advisor.not_for_sale")}</Badge></>}
        </>
      ),
    },
    { name: say("advisor.total"), end: true, value: (row) => <span className="strong"><Balance value={row.total} /></span> },
    {
      name: say("advisor.rent"),
      unnamed: true,
      end: true,
      value: (row) => row.for_sale && <RentLink model={row.gpu_model} name={row.gpu_name} cards={row.cards} />,
    },
  ];
}

export function CostTopic() {
  const say = useSay();
  const [gpu, setGpu] = useState("rtx-4090");
  const [cards, setCards] = useState<number | undefined>(1);
  const [hours, setHours] = useState<number | undefined>(8);
  const [days, setDays] = useState<number | undefined>(14);
  const request: CostRequest = { gpu_model: gpu, cards: cards ?? 1, hours_per_day: hours ?? 1, days: days ?? 1 };
  const query = useQuery(queries.costEstimate(useSettled(request)));
  const form = (
    <>
      <GpuField label={say("advisor.card")} value={gpu} onChange={setGpu} />
      <NumberField name="cards" label={say("advisor.count")} min={1} whole value={cards} onChange={setCards} />
      <NumberField name="hours" label={say("advisor.hours_per_day")} value={hours} onChange={setHours} />
      <NumberField name="days" label={say("advisor.days")} min={1} whole value={days} onChange={setDays} />
    </>
  );
  return (
    <Topic form={form} error={query.error}>
      <Loaded query={query}>
        {(view) => (
          <>
            <Conclusion sentence={view.sentence}>
              <Facts facts={[{ name: say("advisor.balance"), value: <Balance value={view.balance.keep} /> }]} />
            </Conclusion>
            <Panel flush title={say("advisor.pay")}>
              <DataTable label={say("advisor.pay")} columns={columns(say)} rows={view.rows} rowKey={(row) => `${row.gpu_model} ${row.mode}`} />
            </Panel>
            <Sentences title={say("advisor.advice")} items={view.advice} />
            <Plans plans={view.plans} />
            <Formulas formulas={view.formulas} />
          </>
        )}
      </Loaded>
    </Topic>
  );
}
