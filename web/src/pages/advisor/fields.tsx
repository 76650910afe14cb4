// The fields of the advisor's forms: each a label and a control, nothing to submit. An answer
// follows what one enters.
import { Form, Input, InputNumber, Segmented, Select } from "antd";
import { useQuery } from "@tanstack/react-query";
import { queries } from "../../api/queries";
import { useSay } from "../../i18n";

export function NumberField(props: {
  name: string;
  label: string;
  value: number | undefined;
  min?: number;
  whole?: boolean;
  onChange(value: number | undefined): void;
}) {
  const id = `advisor-${props.name}`;
  return (
    <Form.Item label={props.label} htmlFor={id}>
      <InputNumber
        id={id}
        style={{ width: "100%", maxWidth: 220 }}
        min={props.min ?? 0}
        {...(props.whole ? { precision: 0 } : {})}
        value={props.value ?? null}
        onChange={(value) => props.onChange(value ?? undefined)}
      />
    </Form.Item>
  );
}

export function ChoiceField<Value extends string>(props: {
  label: string;
  value: Value;
  options: { value: Value; label: string }[];
  onChange(value: Value): void;
}) {
  return (
    <Form.Item label={props.label}>
      <div style={{ maxWidth: "100%", overflowX: "auto" }}>
        <Segmented<Value> aria-label={props.label} value={props.value} options={props.options} onChange={props.onChange} />
      </div>
    </Form.Item>
  );
}

/** One of many, found by typing. */
export function PickField<Value extends string>(props: {
  name: string;
  label: string;
  value: Value;
  options: { value: Value; label: string }[];
  onChange(value: Value): void;
}) {
  const id = `advisor-${props.name}`;
  return (
    <Form.Item label={props.label} htmlFor={id}>
      <Select<Value> id={id} showSearch optionFilterProp="label" value={props.value} options={props.options} onChange={props.onChange} />
    </Form.Item>
  );
}

/** A GPU model of the catalog. */
export function GpuField({ label, value, onChange }: { label: string; value: string; onChange(value: string): void }) {
  const models = useQuery(queries.gpuModels()).data ?? [];
  return (
    <PickField name="gpu" label={label} value={value} onChange={onChange}
      options={models.map((model) => ({ value: model.key, label: model.name }))} />
  );
}

export interface ModelValue {
  preset: string | undefined; // undefined: by the number of parameters
  params: string;
}

const OTHER = "";

export function ModelField({ value, onChange }: { value: ModelValue; onChange(value: ModelValue): void }) {
  const say = useSay();
  const presets = useQuery(queries.modelPresets()).data ?? [];
  return (
    <>
      <PickField
        name="model"
        label={say("advisor.model")}
        value={value.preset ?? OTHER}
        onChange={(key) => onChange({ ...value, preset: key || undefined })}
        options={[
          { value: OTHER, label: say("advisor.model.other") },
          ...presets.map((preset) => ({ value: preset.key, label: preset.name })),
        ]}
      />
      {value.preset === undefined && (
        <Form.Item label={say("advisor.params")} htmlFor="advisor-params">
          <Input
            id="advisor-params"
            style={{ maxWidth: 220 }}
            value={value.params}
            onChange={(event) => onChange({ ...value, params: event.target.value })}
          />
        </Form.Item>
      )}
    </>
  );
}
