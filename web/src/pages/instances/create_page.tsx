import { useQuery } from "@tanstack/react-query";
import { Alert, Button, Checkbox, Form, Input, InputNumber, Select } from "antd";
import { useState } from "react";
import { Link, useNavigate, useSearchParams } from "react-router-dom";
import { useInstanceAct } from "../../api/act";
import { answer, api, withKey } from "../../api/client";
import { queries } from "../../api/queries";
import type { InstanceView, OfferView, QuoteView, RentRequest } from "../../api/types";
import { Loaded, Page, Panel, ProblemAlert } from "../../components/basics";
import { QuotePanel } from "../../components/quote";
import { ShapeFields, type ShapeValue } from "../../components/shape_fields";
import { useSay } from "../../i18n";
import { GIB } from "../../lib/size";
import { useSettled } from "../../lib/use_settled";
import { modelChoices } from "../market/offers";

interface Details {
  image: string | undefined;
  name: string;
  purpose: string;
  dataGib: number | undefined; // undefined: what the deployment gives without being asked
  nesting: boolean;
}

function requestOf(shape: ShapeValue, details: Details): RentRequest {
  return {
    mode: shape.mode,
    ...(shape.mode === "on_demand" ? { gpu_model: shape.model, gpu_count: shape.count } : {}),
    ...(details.image ? { image: details.image } : {}),
    ...(details.name ? { name: details.name } : {}),
    ...(details.purpose ? { purpose: details.purpose } : {}),
    ...(details.dataGib ? { data_disk_bytes: details.dataGib * GIB } : {}),
    ...(details.nesting ? { nesting: true } : {}),
  };
}

function rent(request: RentRequest): Promise<InstanceView> {
  return withKey(["rent", request], (key) =>
    answer(api.POST("/api/v1/instances", { body: request, params: { header: { "Idempotency-Key": key } } })));
}

/** What the price depends on. */
function pricedPart(request: RentRequest): RentRequest {
  const { mode, gpu_model, gpu_count, data_disk_bytes } = request;
  return { mode, gpu_model, gpu_count, data_disk_bytes };
}

export default function CreatePage() {
  const say = useSay();
  const offers = useQuery(queries.offers());
  return (
    <Page title={say("create.title")}>
      <Loaded query={offers}>{(found) => <CreateForm offers={found} />}</Loaded>
    </Page>
  );
}

function CreateForm({ offers }: { offers: OfferView[] }) {
  const [search] = useSearchParams();
  const navigate = useNavigate();
  const choices = modelChoices(offers);
  const [shape, setShape] = useState<ShapeValue>(() => ({
    mode: search.get("mode") === "no_gpu" || !choices.length ? "no_gpu" : "on_demand",
    model: search.get("model") ?? (choices.find((choice) => choice.free > 0) ?? choices[0])?.model,
    count: Math.max(1, Number(search.get("count")) || 1),
  }));
  const [details, setDetails] = useState<Details>({
    image: undefined, name: "", purpose: "", dataGib: undefined, nesting: false,
  });
  const request = requestOf(shape, details);
  const quote = useQuery(queries.quote(useSettled(pricedPart(request))));
  const act = useInstanceAct(rent, {
    showsProblemItself: true,
    onDone: (view) => navigate(`/instances/${view.id}`),
  });
  return (
    <Form layout="vertical" requiredMark={false} onFinish={() => act.mutate(request)}>
      <div className="columns side">
        <div className="stack">
          <Panel><ShapeFields value={shape} choices={choices} withMode onChange={setShape} /></Panel>
          <Panel><DetailFields value={details} quote={quote.data} onChange={setDetails} /></Panel>
        </div>
        <div className="sticky">
          <Cost quote={quote.data} quoteError={quote.error} actError={act.error} isPending={act.isPending} />
        </div>
      </div>
    </Form>
  );
}

function Cost(props: { quote: QuoteView | undefined; quoteError: unknown; actError: unknown; isPending: boolean }) {
  const say = useSay();
  const { quote } = props;
  const keys = useQuery(queries.sshKeys()).data;
  const isPossible = !!quote && !props.quoteError && quote.affordable && quote.placeable;
  return (
    <Panel title={say("create.summary")}>
      <div className="stack tight">
        {props.quoteError ? <ProblemAlert error={props.quoteError} /> : quote && <QuotePanel quote={quote} isNew />}
        {keys?.length === 0 && (
          <Alert type="info" message={say("create.no_key")} description={<Link to="/settings">{say("create.add_key")}</Link>} />
        )}
        {!!props.actError && <ProblemAlert error={props.actError} />}
        <Button type="primary" htmlType="submit" size="large" block disabled={!isPossible} loading={props.isPending}>
          {say("create.submit")}
        </Button>
        <p className="soft small">{say("create.begins")}</p>
      </div>
    </Panel>
  );
}

function DetailFields({ value, quote, onChange }: {
  value: Details;
  quote: QuoteView | undefined;
  onChange(value: Details): void;
}) {
  const say = useSay();
  const images = useQuery(queries.images()).data ?? [];
  const change = (part: Partial<Details>) => onChange({ ...value, ...part });
  const usual = quote && Math.round(quote.data_disk_bytes / GIB);
  return (
    <>
      <Form.Item label={say("instances.name")} htmlFor="create-name" extra={say("create.name.hint")}>
        <Input id="create-name" maxLength={40} value={value.name} onChange={(event) => change({ name: event.target.value })} />
      </Form.Item>
      <Form.Item label={say("create.purpose")} htmlFor="create-purpose" extra={say("create.purpose.hint")}>
        <Input id="create-purpose" maxLength={120} value={value.purpose} onChange={(event) => change({ purpose: event.target.value })} />
      </Form.Item>
      <Form.Item label={say("create.image")} htmlFor="create-image">
        <Select
          id="create-image"
          value={value.image ?? images[0]?.name}
          onChange={(image) => change({ image })}
          options={images.map(({ name }) => ({ value: name, label: name }))}
        />
      </Form.Item>
      <Form.Item label={say("create.data_disk")} htmlFor="create-data-disk" extra={say("create.data_disk.hint")}>
        <InputNumber
          id="create-data-disk"
          min={1}
          precision={0}
          addonAfter="GiB"
          style={{ width: 180 }}
          value={value.dataGib ?? usual}
          onChange={(dataGib) => change({ dataGib: dataGib ?? undefined })}
        />
      </Form.Item>
      <Form.Item>
        <Checkbox checked={value.nesting} onChange={(event) => change({ nesting: event.target.checked })}>
          {say("create.nesting")}
        </Checkbox>
      </Form.Item>
    </>
  );
}
