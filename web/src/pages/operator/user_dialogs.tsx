import { Alert, App, Button, Form, Input, Modal, Segmented } from "antd";
import { useState } from "react";
import { useAct } from "../../api/act";
import { answer, api, withKey } from "../../api/client";
import type { AccountView, InvitationView } from "../../api/types";
import { useCurrency } from "../../components/amount";
import { ProblemAlert } from "../../components/basics";
import { CopyField } from "../../components/copy_field";
import { useSay } from "../../i18n";
import { formatExact, parseAmount, toDecimal, toMicro } from "../../lib/money";
import { formatMoment } from "../../lib/time";

export function TopUpDialog({ account, onClose }: { account: AccountView; onClose(): void }) {
  const say = useSay();
  const currency = useCurrency();
  const { notification } = App.useApp();
  const [typed, setTyped] = useState("");
  const [note, setNote] = useState("");
  const amount = parseAmount(typed);
  const act = useAct(
    (micro: bigint) => {
      const body = { account: account.login, amount: toDecimal(micro), ...(note ? { note } : {}) };
      return withKey(["topup", body], (key) =>
        answer(api.POST("/api/v1/admin/topups", { body, params: { header: { "Idempotency-Key": key } } })));
    },
    {
      showsProblemItself: true,
      refresh: [["operator", "accounts"], ["wallet"], ["transactions"]],
      onDone: (booked) => {
        notification.success({
          message: say("users.topup.done", { login: account.login, amount: formatExact(toMicro(booked.amount), currency) }),
        });
        onClose();
      },
    },
  );
  const submit = () => amount && act.mutate(amount);
  return (
    <Modal
      open
      title={say("users.topup.what", { login: account.login })}
      okText={say("users.topup")}
      cancelText={say("act.cancel")}
      okButtonProps={{ disabled: !amount }}
      confirmLoading={act.isPending}
      onOk={submit}
      onCancel={onClose}
    >
      <div className="stack tight">
        {act.error && <ProblemAlert error={act.error} />}
        <Form layout="vertical" onFinish={submit}>
          <Form.Item
            label={say("users.topup.amount", { code: currency.code })}
            htmlFor="topup-amount"
            {...(typed && amount === undefined ? { validateStatus: "error" as const, help: say("prices.invalid") } : {})}
          >
            <Input id="topup-amount" autoFocus inputMode="decimal" value={typed} onChange={(event) => setTyped(event.target.value)} />
          </Form.Item>
          <Form.Item label={say("users.topup.note")} htmlFor="topup-note" extra={say("users.topup.note.hint")}>
            <Input id="topup-note" maxLength={160} value={note} onChange={(event) => setNote(event.target.value)} />
          </Form.Item>
        </Form>
      </div>
    </Modal>
  );
}

interface NewUser {
  login: string;
  password: string;
  role: "renter" | "admin";
}

export function AddUserDialog({ onClose }: { onClose(): void }) {
  const say = useSay();
  const { notification } = App.useApp();
  const [form] = Form.useForm<NewUser>();
  const act = useAct((body: NewUser) => answer(api.POST("/api/v1/admin/accounts", { body })), {
    showsProblemItself: true,
    refresh: [["operator", "accounts"]],
    onDone: (made) => {
      notification.success({ message: say("users.add.done", { login: made.login }) });
      onClose();
    },
  });
  const required = [{ required: true, message: say("field.required") }];
  return (
    <Modal
      open
      title={say("users.add")}
      okText={say("users.add")}
      cancelText={say("act.cancel")}
      confirmLoading={act.isPending}
      onOk={form.submit}
      onCancel={onClose}
    >
      <div className="stack tight">
        {act.error && <ProblemAlert error={act.error} />}
        <Form name="user" form={form} layout="vertical" requiredMark={false} initialValues={{ role: "renter" }} onFinish={(entered: NewUser) => act.mutate(entered)}>
          <Form.Item name="login" label={say("users.login")} rules={required}>
            <Input autoFocus autoComplete="off" autoCapitalize="none" />
          </Form.Item>
          <Form.Item name="password" label={say("users.password")} extra={say("users.password.hint")} rules={required}>
            <Input.Password autoComplete="new-password" />
          </Form.Item>
          <Form.Item name="role" label={say("users.role")}>
            <Segmented options={[{ value: "renter", label: say("role.renter") }, { value: "admin", label: say("role.admin") }]} />
          </Form.Item>
        </Form>
      </div>
    </Modal>
  );
}

export function InvitationDialog({ invitation, onClose }: { invitation: InvitationView; onClose(): void }) {
  const say = useSay();
  return (
    <Modal open title={say("users.invite")} footer={<Button type="primary" onClick={onClose}>{say("act.close")}</Button>} onCancel={onClose}>
      <div className="stack tight">
        <Alert type="warning" showIcon message={say("users.invite.made", { until: formatMoment(invitation.expires_at) })} />
        <CopyField name={say("users.invite.code")} text={invitation.code} />
        <CopyField name={say("users.invite.link")} text={`${window.location.origin}/register`} />
      </div>
    </Modal>
  );
}
