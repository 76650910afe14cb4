import { useQuery } from "@tanstack/react-query";
import { Checkbox, Form, Input } from "antd";
import { useState } from "react";
import { queries } from "../../api/queries";
import type { TimeRequest } from "../../api/types";
import { Balance } from "../../components/amount";
import { Facts, Loaded } from "../../components/basics";
import { spanText } from "../../components/span";
import { useSay } from "../../i18n";
import { useSettled } from "../../lib/use_settled";
import { Conclusion, Formulas, Sentences, Topic } from "./answer";
import { GpuField, NumberField } from "./fields";
import { Plans } from "./plans";

const MS_PER_HOUR = 3_600_000;

interface Asked {
  gpu: string;
  cards: number | undefined;
  stepSeconds: number | undefined;
  samples: number | undefined;
  batch: number | undefined;
  epochs: number | undefined;
  deadlineHours: number | undefined;
  known: boolean;
  log: string;
}

function requestOf(asked: Asked): TimeRequest {
  return {
    gpu_model: asked.gpu,
    cards: asked.cards ?? 1,
    samples: asked.samples ?? 0,
    batch: asked.batch ?? 1,
    epochs: asked.epochs ?? 1,
    known: asked.known,
    ...(asked.log.trim() ? { log: asked.log } : { step_seconds: asked.stepSeconds ?? 1 }),
    ...(asked.deadlineHours ? { deadline_ms: Math.round(asked.deadlineHours * MS_PER_HOUR) } : {}),
  };
}

export function TimeTopic() {
  const say = useSay();
  const [asked, setAsked] = useState<Asked>({
    gpu: "rtx-4090", cards: 1, stepSeconds: 1.2, samples: 50_000, batch: 8, epochs: 3,
    deadlineHours: undefined, known: false, log: "",
  });
  const change = (part: Partial<Asked>) => setAsked({ ...asked, ...part });
  const query = useQuery(queries.timeEstimate(useSettled(requestOf(asked))));
  const form = (
    <>
      <GpuField label={say("advisor.measured")} value={asked.gpu} onChange={(gpu) => change({ gpu })} />
      <NumberField name="cards" label={say("advisor.count")} min={1} whole value={asked.cards} onChange={(cards) => change({ cards })} />
      <NumberField name="step" label={say("advisor.step_seconds")} value={asked.stepSeconds} onChange={(stepSeconds) => change({ stepSeconds })} />
      <NumberField name="samples" label={say("advisor.samples")} min={1} whole value={asked.samples} onChange={(samples) => change({ samples })} />
      <NumberField name="batch" label={say("advisor.batch")} min={1} whole value={asked.batch} onChange={(batch) => change({ batch })} />
      <NumberField name="epochs" label={say("advisor.epochs")} value={asked.epochs} onChange={(epochs) => change({ epochs })} />
      <NumberField name="deadline" label={say("advisor.deadline")} value={asked.deadlineHours} onChange={(deadlineHours) => change({ deadlineHours })} />
      <Form.Item>
        <Checkbox checked={asked.known} onChange={(event) => change({ known: event.target.checked })}>{say("advisor.known")}</Checkbox>
      </Form.Item>
      <Form.Item label={say("advisor.log")} htmlFor="advisor-log">
        <Input.TextArea id="advisor-log" className="mono" rows={3} spellCheck={false} value={asked.log} onChange={(event) => change({ log: event.target.value })} />
      </Form.Item>
    </>
  );
  return (
    <Topic form={form} error={query.error}>
      <Loaded query={query}>
        {(view) => (
          <>
            <Conclusion sentence={view.sentence}>
              <Facts
                facts={[
                  { name: say("advisor.plan.time"), value: spanText(say, view.total_ms) },
                  { name: say("advisor.card_time"), value: <span className="figure">{(view.card_time_ms / MS_PER_HOUR).toFixed(1)}</span> },
                  view.cost !== undefined && { name: say("advisor.plan.cost"), value: <Balance value={view.cost} /> },
                ]}
              />
            </Conclusion>
            <Sentences title={say("advisor.advice")} items={[...(view.fit ? [view.fit.sentence] : []), ...view.advice]} />
            <Plans plans={view.plans} />
            <Formulas formulas={view.formulas} />
          </>
        )}
      </Loaded>
    </Topic>
  );
}
