import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router-dom";
import { queries } from "../../api/queries";
import type { VramFitView, VramRequest, VramView } from "../../api/types";
import { PerHour } from "../../components/amount";
import { Badge, Loaded, Panel, type Tone } from "../../components/basics";
import { DataTable, type Column } from "../../components/data_table";
import { useSay, type Say } from "../../i18n";
import { formatSize, GIB } from "../../lib/size";
import { useSettled } from "../../lib/use_settled";
import { Conclusion, hereFirst, RentLink, Sentences, shapeText, Topic, useIsHere } from "./answer";
import { ChoiceField, ModelField, NumberField, PickField, type ModelValue } from "./fields";

type Workload = NonNullable<VramRequest["workload"]>;
type Precision = NonNullable<VramRequest["precision"]>;

const WORKLOADS: Workload[] = ["inference", "lora", "qlora", "full", "diffusion"];
const PRECISIONS: Precision[] = ["fp32", "fp16", "int8", "int4"];
export const FIT_TONE: Record<VramFitView["fit"], Tone> = { comfortable: "good", fits: "good", tight: "warn", no: "bad" };

interface Asked {
  model: ModelValue;
  workload: Workload;
  precision: Precision;
  context: number | undefined;
  sequences: number | undefined;
}

function requestOf(asked: Asked): VramRequest {
  return {
    model: asked.model.preset ? { preset: asked.model.preset } : { params: asked.model.params },
    workload: asked.workload,
    // What is trained has the precision that its way of training has.
    ...(asked.workload === "inference" || asked.workload === "diffusion" ? { precision: asked.precision } : {}),
    ...(asked.context ? { context: asked.context } : {}),
    ...(asked.sequences ? { sequences: asked.sequences } : {}),
  };
}

export function VramTopic() {
  const say = useSay();
  const [asked, setAsked] = useState<Asked>({
    model: { preset: "llama-3.1-8b", params: "7B" }, workload: "inference", precision: "fp16", context: 4096, sequences: 1,
  });
  const change = (part: Partial<Asked>) => setAsked({ ...asked, ...part });
  const query = useQuery(queries.vramEstimate(useSettled(requestOf(asked))));
  const form = (
    <>
      <ModelField value={asked.model} onChange={(model) => change({ model })} />
      <PickField
        name="workload"
        label={say("advisor.workload")}
        value={asked.workload}
        options={WORKLOADS.map((value) => ({ value, label: say(`workload.${value}`) }))}
        onChange={(workload) => change({ workload })}
      />
      {(asked.workload === "inference" || asked.workload === "diffusion") && (
        <ChoiceField
          label={say("advisor.precision")}
          value={asked.precision}
          options={PRECISIONS.map((value) => ({ value, label: say(`precision.${value}`) }))}
          onChange={(precision) => change({ precision })}
        />
      )}
      {asked.workload !== "diffusion" && (
        <NumberField name="context" label={say("advisor.context")} min={1} whole value={asked.context} onChange={(context) => change({ context })} />
      )}
      <NumberField name="sequences" label={say("advisor.sequences")} min={1} whole value={asked.sequences} onChange={(sequences) => change({ sequences })} />
    </>
  );
  return (
    <Topic form={form} error={query.error}>
      <Loaded query={query}>{(view) => <VramAnswer view={view} />}</Loaded>
    </Topic>
  );
}

function fitColumns(say: Say): Column<VramFitView>[] {
  return [
    {
      name: say("advisor.card"),
      lead: true,
      value: (fit) => (
        <>
          <span className="strong">{shapeText(fit.cards, fit.gpu_name)}</span>
          <div className="soft small">{formatSize(fit.vram_bytes)}</div>
        </>
      ),
    },
    { name: say("advisor.fit"), value: (fit) => <Badge tone={FIT_TONE[fit.fit]}>{say(`fit.${fit.fit}`)}</Badge> },
    { name: say("advisor.used"), end: true, value: (fit) => <span className="figure">{fit.utilisation_percent}%</span> },
    {
      name: say("advisor.price"),
      end: true,
      value: (fit) =>
        fit.rate_per_hour === undefined ? <span className="soft small">{say("advisor.no_price")}</span> : <PerHour value={fit.rate_per_hour} />,
    },
    {
      name: say("advisor.rent"),
      unnamed: true,
      end: true,
      value: (fit) => <RentLink model={fit.gpu_model} name={fit.gpu_name} cards={fit.cards} />,
    },
  ];
}

function VramAnswer({ view }: { view: VramView }) {
  const say = useSay();
  const isHere = useIsHere();
  const { low_bytes, high_bytes, likely_bytes } = view.per_card;
  return (
    <>
      <Conclusion sentence={view.sentence}>
        <p className="soft">
          {say("advisor.size")}: {say("advisor.size.range", { low: formatSize(low_bytes), high: formatSize(high_bytes) })}
          {" · "}
          <Link to={`/market?vram=${Math.ceil(likely_bytes / GIB)}`}>{say("advisor.market")}</Link>
        </p>
      </Conclusion>
      <Sentences title={say("advisor.changes")} items={view.changes.map((each) => each.sentence)} />
      <Panel flush title={say("advisor.fits")}>
        <DataTable
          label={say("advisor.fits")}
          columns={fitColumns(say)}
          rows={hereFirst(view.fits.filter((fit) => fit.fit !== "no"), isHere)}
          rowKey={(fit) => fit.gpu_model}
        />
      </Panel>
      <Panel flush title={say("advisor.parts")}>
        <DataTable
          label={say("advisor.parts")}
          rows={view.parts}
          rowKey={(part) => part.key}
          columns={[
            { name: say("advisor.part"), value: (part) => part.name },
            { name: say("advisor.likely"), end: true, value: (part) => <span className="figure">{formatSize(part.size.likely_bytes)}</span> },
            { name: say("advisor.formula"), value: (part) => <span className="soft small wrap-anywhere">{part.formula}</span> },
          ]}
        />
      </Panel>
      <Sentences title={say("advisor.disk")} items={[view.disk.sentence, ...view.warnings]} />
    </>
  );
}
