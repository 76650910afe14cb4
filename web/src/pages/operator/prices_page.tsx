import { useQuery } from "@tanstack/react-query";
import { Button, Form, Input, Modal, Select } from "antd";
import { useState } from "react";
import { useAct } from "../../api/act";
import { answer, api } from "../../api/client";
import { queries } from "../../api/queries";
import type { PriceView } from "../../api/types";
import { PerHour, useCurrency } from "../../components/amount";
import { Loaded, Page, Panel, ProblemAlert } from "../../components/basics";
import { DataTable, type Column } from "../../components/data_table";
import { useModelName } from "../../components/shape";
import { useSay, type Say } from "../../i18n";
import { parseAmount, toDecimal } from "../../lib/money";

type Priced = Pick<PriceView, "model" | "mode"> & { per_hour?: string };

function columns(say: Say, nameOf: (key: string) => string, set: (price: Priced) => void): Column<PriceView>[] {
  const name = (price: PriceView) => (price.model ? nameOf(price.model) : say("prices.no_gpu"));
  return [
    { name: say("prices.model"), lead: true, value: (price) => <span className="strong">{name(price)}</span> },
    { name: say("prices.per_hour"), end: true, value: (price) => <PerHour value={price.per_hour} /> },
    {
      name: say("prices.act"),
      unnamed: true,
      end: true,
      value: (price) => (
        <Button size="small" aria-label={say("prices.set.what", { model: name(price) })} onClick={() => set(price)}>
          {say("prices.set")}
        </Button>
      ),
    },
  ];
}

export default function PricesPage() {
  const say = useSay();
  const nameOf = useModelName();
  const prices = useQuery(queries.prices());
  const models = useQuery(queries.gpuModels()).data ?? [];
  const [editing, setEditing] = useState<Priced>();
  const unpriced = models.filter((model) => !prices.data?.some((price) => price.model === model.key));
  return (
    <Page title={say("prices.title")}>
      <p className="soft">{say("prices.note")}</p>
      <Loaded query={prices}>
        {(found) => (
          <Panel flush>
            <DataTable
              label={say("prices.title")}
              columns={columns(say, nameOf, setEditing)}
              rows={found}
              rowKey={(price) => `${price.model} ${price.mode}`}
            />
          </Panel>
        )}
      </Loaded>
      <Panel title={say("prices.add")}>
        {unpriced.length ? (
          <Select
            aria-label={say("prices.add")}
            style={{ width: "100%", maxWidth: 360 }}
            value={null}
            placeholder={say("prices.model")}
            onChange={(model: string | null) => model && setEditing({ model, mode: "on_demand" })}
            options={unpriced.map((model) => ({ value: model.key, label: model.name }))}
          />
        ) : (
          <p className="soft">{say("prices.none_left")}</p>
        )}
      </Panel>
      {editing && <PriceDialog price={editing} onClose={() => setEditing(undefined)} />}
    </Page>
  );
}

function PriceDialog({ price, onClose }: { price: Priced; onClose(): void }) {
  const say = useSay();
  const nameOf = useModelName();
  const { code } = useCurrency();
  const [typed, setTyped] = useState(price.per_hour?.replace(/\.?0+$/, "") ?? "");
  const amount = parseAmount(typed);
  const act = useAct(
    (micro: bigint) =>
      answer(api.PUT("/api/v1/admin/prices", { body: { model: price.model, mode: price.mode, per_hour: toDecimal(micro) } })),
    { showsProblemItself: true, refresh: [["prices"], ["offers"], ["gpu-models"]], onDone: onClose },
  );
  const submit = () => amount !== undefined && act.mutate(amount);
  return (
    <Modal
      open
      title={say("prices.dialog", { model: price.model ? nameOf(price.model) : say("prices.no_gpu") })}
      okText={say("act.save")}
      cancelText={say("act.cancel")}
      okButtonProps={{ disabled: amount === undefined }}
      confirmLoading={act.isPending}
      onOk={submit}
      onCancel={onClose}
    >
      <div className="stack tight">
        {act.error && <ProblemAlert error={act.error} />}
        <Form layout="vertical" onFinish={submit}>
          <Form.Item
            label={say("prices.amount", { code })}
            htmlFor="price-amount"
            {...(typed && amount === undefined ? { validateStatus: "error" as const, help: say("prices.invalid") } : {})}
          >
            <Input id="price-amount" autoFocus inputMode="decimal" value={typed} onChange={(event) => setTyped(event.target.value)} />
          </Form.Item>
        </Form>
        <p className="soft small">{say("prices.note")}</p>
      </div>
    </Modal>
  );
}
