import { useQuery } from "@tanstack/react-query";
import { Checkbox, Form } from "antd";
import { useState } from "react";
import { queries } from "../../api/queries";
import type { CardRankView, CardsRequest } from "../../api/types";
import { PerHour } from "../../components/amount";
import { Badge, Loaded, Panel } from "../../components/basics";
import { DataTable, type Column } from "../../components/data_table";
import { useSay, type Say } from "../../i18n";
import { GIB } from "../../lib/size";
import { useSettled } from "../../lib/use_settled";
import { Conclusion, RentLink, shapeText, Topic } from "./answer";
import { ChoiceField, NumberField } from "./fields";
import { FIT_TONE } from "./vram_topic";

type Task = NonNullable<CardsRequest["task"]>;
const TASKS: Task[] = ["training", "inference", "images"];

function columns(say: Say): Column<CardRankView>[] {
  return [
    { name: say("advisor.card"), lead: true, value: (row) => <span className="strong nowrap">{row.rank}. {shapeText(row.cards, row.gpu_name)}</span> },
    { name: say("advisor.fit"), value: (row) => <Badge tone={FIT_TONE[row.fit]}>{say(`fit.${row.fit}`)}</Badge> },
    {
      name: say("advisor.why"),
      value: (row) => <span className="small">{[row.reason, ...row.warnings].join(" ")}</span>,
    },
    {
      name: say("advisor.price"),
      end: true,
      value: (row) =>
        row.rate_per_hour === undefined ? <span className="soft small">{say("advisor.no_price")}</span> : <PerHour value={row.rate_per_hour} />,
    },
    {
      name: say("advisor.rent"),
      unnamed: true,
      end: true,
      value: (row) => <RentLink model={row.gpu_model} name={row.gpu_name} cards={row.cards} />,
    },
  ];
}

export function CardsTopic() {
  const say = useSay();
  const [task, setTask] = useState<Task>("training");
  const [vram, setVram] = useState<number | undefined>(20);
  const [cards, setCards] = useState<number | undefined>(1);
  const [continuous, setContinuous] = useState(false);
  const request: CardsRequest = { task, continuous, vram_bytes: Math.round((vram ?? 1) * GIB), cards: cards ?? 1 };
  const query = useQuery(queries.cardsEstimate(useSettled(request)));
  const form = (
    <>
      <ChoiceField<Task>
        label={say("advisor.task")}
        value={task}
        options={TASKS.map((value) => ({ value, label: say(`task.${value}`) }))}
        onChange={setTask}
      />
      <NumberField name="vram" label={say("advisor.vram_gib")} min={1} value={vram} onChange={setVram} />
      <NumberField name="cards" label={say("advisor.cards.most")} min={1} whole value={cards} onChange={setCards} />
      <Form.Item>
        <Checkbox checked={continuous} onChange={(event) => setContinuous(event.target.checked)}>{say("advisor.continuous")}</Checkbox>
      </Form.Item>
    </>
  );
  return (
    <Topic form={form} error={query.error}>
      <Loaded query={query}>
        {(view) => (
          <>
            <Conclusion sentence={view.sentence} />
            <Panel flush title={say("advisor.fits")}>
              <DataTable label={say("advisor.fits")} columns={columns(say)} rows={view.rows} rowKey={(row) => `${row.rank}`} />
            </Panel>
          </>
        )}
      </Loaded>
    </Topic>
  );
}
