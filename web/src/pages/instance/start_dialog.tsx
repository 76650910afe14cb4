// Starting, or giving a running instance without a card its cards: on what, and at which price.
import { useQuery } from "@tanstack/react-query";
import { Form, Modal } from "antd";
import { useState } from "react";
import { useInstanceAct } from "../../api/act";
import { queries } from "../../api/queries";
import type { InstanceView, StartRequest } from "../../api/types";
import { ProblemAlert } from "../../components/basics";
import { QuotePanel } from "../../components/quote";
import { ShapeFields, type ShapeValue } from "../../components/shape_fields";
import { useSay } from "../../i18n";
import { useSettled } from "../../lib/use_settled";
import { modelChoices } from "../market/offers";
import { instanceCalls } from "./calls";

/** Of its last run with cards: what one most likely wants again. */
function useLastShape(view: InstanceView) {
  const lines = useQuery(queries.statement({ instance: view.id })).data?.lines ?? [];
  return [...lines].sort((a, b) => a.opened_at.localeCompare(b.opened_at)).findLast((line) => line.gpu_model);
}

export function StartDialog({ view, mode, onClose }: {
  view: InstanceView;
  mode: "on_demand" | "no_gpu";
  onClose(): void;
}) {
  const say = useSay();
  const offers = useQuery(queries.offers()).data ?? [];
  const choices = modelChoices(offers.filter((offer) => offer.host_id === view.host_id));
  const last = useLastShape(view);
  const [chosen, setChosen] = useState<ShapeValue>();
  const shape: ShapeValue = chosen ?? { mode, model: last?.gpu_model ?? choices[0]?.model, count: last?.quantity ?? 1 };
  const request: StartRequest =
    mode === "no_gpu" ? { mode } : { mode, gpu_model: shape.model, gpu_count: shape.count };
  const quote = useQuery({ ...queries.startQuote(view.id, useSettled(request)), enabled: mode === "no_gpu" || !!shape.model });
  const act = useInstanceAct(() => instanceCalls.start(view.id, request), { onDone: onClose, showsProblemItself: true });
  const isSwitch = view.observed === "running";
  return (
    <Modal
      open
      title={say(isSwitch ? "start.switch.title" : "start.title", { name: view.name })}
      okText={say(isSwitch ? "do.add_cards" : "start.submit")}
      cancelText={say("act.cancel")}
      okButtonProps={{ disabled: !quote.data || !!quote.error || !quote.data.affordable || !quote.data.placeable }}
      confirmLoading={act.isPending}
      onOk={() => act.mutate(undefined)}
      onCancel={onClose}
    >
      <Form layout="vertical" component="div">
        <p className="soft" style={{ marginBottom: 16 }}>
          {mode === "no_gpu" ? say("start.no_gpu.text") : say(isSwitch ? "start.switch.text" : "start.same_host")}
        </p>
        <ShapeFields value={shape} choices={choices} withMode={false} onChange={setChosen} />
      </Form>
      <div className="stack tight" style={{ marginTop: 16 }}>
        {quote.error ? <ProblemAlert error={quote.error} /> : quote.data && <QuotePanel quote={quote.data} isNew={false} />}
        {act.error && <ProblemAlert error={act.error} />}
      </div>
    </Modal>
  );
}
