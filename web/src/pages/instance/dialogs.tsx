import { useQuery } from "@tanstack/react-query";
import { App, Button, Form, Input, Modal } from "antd";
import { useState, type ReactNode } from "react";
import { useInstanceAct } from "../../api/act";
import { queries } from "../../api/queries";
import type { InstanceView } from "../../api/types";
import { useCurrency } from "../../components/amount";
import { useSay } from "../../i18n";
import { formatExact, toMicro } from "../../lib/money";
import { instanceCalls } from "./calls";

interface DialogProps {
  view: InstanceView;
  onClose(): void;
}

/** A question with its consequences as a list; the act waits for the server before it closes. */
function Ask(props: {
  title: string;
  facts: ReactNode[];
  submit: string;
  isDanger?: boolean;
  isPending: boolean;
  isDisabled?: boolean;
  onSubmit(): void;
  onClose(): void;
  children?: ReactNode;
}) {
  const say = useSay();
  return (
    <Modal
      open
      title={props.title}
      okText={props.submit}
      cancelText={say("act.cancel")}
      okButtonProps={{ danger: props.isDanger ?? false, disabled: props.isDisabled ?? false }}
      confirmLoading={props.isPending}
      onOk={props.onSubmit}
      onCancel={props.onClose}
    >
      <ul style={{ paddingLeft: 18, display: "grid", gap: 6 }}>
        {props.facts.filter(Boolean).map((fact, index) => <li key={index}>{fact}</li>)}
      </ul>
      {props.children}
    </Modal>
  );
}

/** What the disks cost when nothing runs, in a sentence. */
function useDisksText(view: InstanceView): string | undefined {
  const say = useSay();
  const currency = useCurrency();
  const quote = useQuery(queries.startQuote(view.id, {})).data;
  if (!quote) return undefined;
  const perDay = toMicro(quote.stopped_per_day);
  return perDay === 0n
    ? say("stop.disks.nothing")
    : say("stop.disks.per_day", { price: formatExact(perDay, currency) });
}

export function StopDialog({ view, onClose }: DialogProps) {
  const say = useSay();
  const currency = useCurrency();
  const disks = useDisksText(view);
  const act = useInstanceAct(() => instanceCalls.stop(view.id), { onDone: onClose });
  const rate = toMicro(view.burn_per_hour);
  return (
    <Ask
      title={say("stop.title", { name: view.name })}
      submit={say("do.stop")}
      isPending={act.isPending}
      onSubmit={() => act.mutate(undefined)}
      onClose={onClose}
      facts={[
        rate > 0n && say("stop.ends", { price: formatExact(rate, currency) }),
        disks,
        view.gpu_count > 0 && say("stop.cards"),
        view.observed === "running" && say("stop.processes"),
      ]}
    />
  );
}

export function RestartDialog({ view, onClose }: DialogProps) {
  const say = useSay();
  const act = useInstanceAct(() => instanceCalls.restart(view.id), { onDone: onClose });
  return (
    <Ask
      title={say("restart.title", { name: view.name })}
      submit={say("do.restart")}
      isPending={act.isPending}
      onSubmit={() => act.mutate(undefined)}
      onClose={onClose}
      facts={[say("restart.text")]}
    />
  );
}

export function ReleaseDialog({ view, onClose }: DialogProps) {
  const say = useSay();
  const currency = useCurrency();
  const { notification } = App.useApp();
  const restore = useInstanceAct(() => instanceCalls.restore(view.id));
  const act = useInstanceAct(() => instanceCalls.release(view.id), {
    onDone: (released) => {
      onClose();
      const key = `released ${view.id}`;
      notification.info({
        key,
        message: say("release.done", { name: released.name }),
        duration: 15,
        btn: (
          <Button
            type="primary"
            size="small"
            onClick={() => {
              restore.mutate(undefined);
              notification.destroy(key);
            }}
          >
            {say("release.undo")}
          </Button>
        ),
      });
    },
  });
  const rate = toMicro(view.burn_per_hour);
  return (
    <Ask
      title={say("release.title", { name: view.name })}
      submit={say("do.release")}
      isDanger
      isPending={act.isPending}
      onSubmit={() => act.mutate(undefined)}
      onClose={onClose}
      facts={[rate > 0n && say("release.stops", { price: formatExact(rate, currency) }), say("release.bin")]}
    />
  );
}

export function PurgeDialog({ view, onClose }: DialogProps) {
  const say = useSay();
  const [typed, setTyped] = useState("");
  const act = useInstanceAct(() => instanceCalls.purge(view.id, typed), { onDone: onClose });
  return (
    <Ask
      title={say("purge.title", { name: view.name })}
      submit={say("do.purge")}
      isDanger
      isPending={act.isPending}
      isDisabled={typed !== view.name}
      onSubmit={() => act.mutate(undefined)}
      onClose={onClose}
      facts={[say("purge.text")]}
    >
      <Form layout="vertical" style={{ marginTop: 16 }}>
        <Form.Item label={say("purge.type", { name: view.name })} htmlFor="purge-name">
          <Input id="purge-name" autoComplete="off" autoFocus value={typed} onChange={(event) => setTyped(event.target.value)} />
        </Form.Item>
      </Form>
    </Ask>
  );
}

export function RenameDialog({ view, onClose }: DialogProps) {
  const say = useSay();
  const [name, setName] = useState(view.name);
  const act = useInstanceAct(() => instanceCalls.rename(view.id, name), { onDone: onClose });
  return (
    <Modal
      open
      title={say("rename.title")}
      okText={say("act.save")}
      cancelText={say("act.cancel")}
      okButtonProps={{ disabled: !name.trim() }}
      confirmLoading={act.isPending}
      onOk={() => act.mutate(undefined)}
      onCancel={onClose}
    >
      <Form layout="vertical" onFinish={() => act.mutate(undefined)}>
        <Form.Item label={say("rename.label")} htmlFor="rename-name">
          <Input id="rename-name" autoFocus maxLength={40} value={name} onChange={(event) => setName(event.target.value)} />
        </Form.Item>
      </Form>
    </Modal>
  );
}
