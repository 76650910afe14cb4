import { useQuery } from "@tanstack/react-query";
import { Checkbox, Form, Input } from "antd";
import { useState } from "react";
import { queries } from "../../api/queries";
import type { OwnRequest, OwnView } from "../../api/types";
import { Balance } from "../../components/amount";
import { Facts, Loaded, Panel } from "../../components/basics";
import { DataTable } from "../../components/data_table";
import { useSay } from "../../i18n";
import { parseAmount, toDecimal } from "../../lib/money";
import { useSettled } from "../../lib/use_settled";
import { Conclusion, Formulas, Sentences, Topic } from "./answer";
import { GpuField, NumberField } from "./fields";

export function OwnTopic() {
  const say = useSay();
  const [gpu, setGpu] = useState("rtx-4090");
  const [cards, setCards] = useState<number | undefined>(1);
  const [hours, setHours] = useState<number | undefined>(200);
  const [price, setPrice] = useState("");
  const [mustStay, setMustStay] = useState(false);
  const amount = parseAmount(price);
  const request: OwnRequest = {
    gpu_model: gpu,
    cards: cards ?? 1,
    hours_per_month: hours ?? 0,
    data_must_stay: mustStay,
    ...(amount ? { machine_price: toDecimal(amount) } : {}),
  };
  const query = useQuery(queries.ownEstimate(useSettled(request)));
  const form = (
    <>
      <GpuField label={say("advisor.card")} value={gpu} onChange={setGpu} />
      <NumberField name="cards" label={say("advisor.count")} min={1} whole value={cards} onChange={setCards} />
      <NumberField name="hours" label={say("advisor.hours_per_month")} value={hours} onChange={setHours} />
      <Form.Item
        label={say("advisor.machine_price")}
        htmlFor="advisor-machine-price"
        extra={say("advisor.machine_price.hint")}
        {...(price && amount === undefined ? { validateStatus: "error" as const, help: say("prices.invalid") } : {})}
      >
        <Input id="advisor-machine-price" style={{ maxWidth: 220 }} inputMode="decimal" value={price} onChange={(event) => setPrice(event.target.value)} />
      </Form.Item>
      <Form.Item>
        <Checkbox checked={mustStay} onChange={(event) => setMustStay(event.target.checked)}>{say("advisor.data_must_stay")}</Checkbox>
      </Form.Item>
    </>
  );
  return (
    <Topic form={form} error={query.error}>
      <Loaded query={query}>{(view) => <OwnAnswer view={view} />}</Loaded>
    </Topic>
  );
}

function OwnAnswer({ view }: { view: OwnView }) {
  const say = useSay();
  return (
    <>
      <Conclusion sentence={view.sentence}>
        <Facts
          facts={[
            { name: say("advisor.own.month"), value: <Balance value={view.own_per_month} /> },
            { name: say("advisor.rent.month"), value: <Balance value={view.rent_per_month} /> },
            {
              name: say("advisor.break_even"),
              value: view.break_even_hours === undefined
                ? say("advisor.break_even.never")
                : say("advisor.break_even.hours", { hours: Math.round(view.break_even_hours) }),
            },
          ]}
        />
      </Conclusion>
      <Sentences title={say("advisor.why")} items={view.reasons} />
      <Panel flush title={say("advisor.curve")}>
        <DataTable
          label={say("advisor.curve")}
          rows={view.curve}
          rowKey={(point) => String(point.hours_per_month)}
          columns={[
            { name: say("advisor.hours"), end: true, value: (point) => <span className="figure">{point.hours_per_month}</span> },
            { name: say("advisor.own.month"), end: true, value: (point) => <Balance value={point.own_per_month} /> },
            { name: say("advisor.rent.month"), end: true, value: (point) => <Balance value={point.rent_per_month} /> },
          ]}
        />
      </Panel>
      <Formulas formulas={view.formulas} />
    </>
  );
}
