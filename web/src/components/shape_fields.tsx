// Choosing what a run is on: with cards or without, which and how many.
import { Form, InputNumber, Segmented, Select } from "antd";
import { useSay, type Say } from "../i18n";
import { formatExact, toMicro, type Currency } from "../lib/money";
import { formatSize } from "../lib/size";
import type { ModelChoice } from "../pages/market/offers";
import { useCurrency } from "./amount";

export interface ShapeValue {
  mode: "on_demand" | "no_gpu";
  model: string | undefined;
  count: number;
}

function optionText(say: Say, currency: Currency, choice: ModelChoice): string {
  const text = say("create.model.option", {
    vram: formatSize(choice.vramBytes),
    name: choice.name,
    price: formatExact(toMicro(choice.perHour), currency),
    free: choice.free,
  });
  return choice.simulated ? `${text} · ${say("simulated")}` : text;
}

export function ShapeFields(props: {
  value: ShapeValue;
  choices: ModelChoice[];
  withMode: boolean;
  onChange(value: ShapeValue): void;
}) {
  const say = useSay();
  const currency = useCurrency();
  const { value, choices } = props;
  const change = (part: Partial<ShapeValue>) => props.onChange({ ...value, ...part });
  const most = choices.find((choice) => choice.model === value.model)?.most ?? 1;
  return (
    <>
      {props.withMode && (
        <Form.Item label={say("create.mode")}>
          <Segmented<ShapeValue["mode"]>
            aria-label={say("create.mode")}
            value={value.mode}
            onChange={(mode) => change({ mode })}
            options={[
              { value: "on_demand", label: say("create.mode.on_demand") },
              { value: "no_gpu", label: say("create.mode.no_gpu") },
            ]}
          />
        </Form.Item>
      )}
      {value.mode === "on_demand" && (
        <>
          <Form.Item label={say("create.model")} htmlFor="shape-model">
            <Select
              id="shape-model"
              value={value.model}
              onChange={(model) => change({ model })}
              options={choices.map((choice) => ({ value: choice.model, label: optionText(say, currency, choice) }))}
            />
          </Form.Item>
          <Form.Item label={say("create.count")} htmlFor="shape-count">
            <InputNumber id="shape-count" min={1} max={most} precision={0} value={value.count} onChange={(count) => change({ count: count ?? 1 })} />
          </Form.Item>
        </>
      )}
    </>
  );
}
