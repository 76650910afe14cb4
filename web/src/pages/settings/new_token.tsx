import { Alert, Checkbox, Form, Input, Modal, Select } from "antd";
import { useAct } from "../../api/act";
import { answer, api } from "../../api/client";
import { ProblemAlert } from "../../components/basics";
import { CopyField } from "../../components/copy_field";
import { wordFor } from "../../components/words";
import { useSay } from "../../i18n";
import { useMe } from "../../session/me";

const DAYS = [7, 30, 90, 365];
const DAY_MS = 86_400_000;

interface Entered {
  name: string;
  scopes: string[];
  days: number;
}

export function NewToken({ onClose }: { onClose(): void }) {
  const say = useSay();
  const mine = useMe()?.scopes.split(" ") ?? [];
  const [form] = Form.useForm<Entered>();
  const act = useAct(
    ({ name, scopes, days }: Entered) =>
      answer(api.POST("/api/v1/tokens", { body: { name, scopes: scopes.join(" "), lifetime_ms: days * DAY_MS } })),
    { showsProblemItself: true, refresh: [["tokens"]] },
  );
  const made = act.data;
  const required = { required: true, message: say("field.required") };
  return (
    <Modal
      open
      title={say("tokens.add")}
      okText={made ? say("act.close") : say("tokens.add")}
      cancelText={say("act.cancel")}
      {...(made ? { cancelButtonProps: { style: { display: "none" } } } : {})}
      confirmLoading={act.isPending}
      onOk={made ? onClose : form.submit}
      onCancel={onClose}
    >
      {made ? (
        <div className="stack tight">
          <Alert type="warning" showIcon message={say("tokens.made")} />
          <CopyField name={say("tokens.text")} text={made.token} />
        </div>
      ) : (
        <div className="stack tight">
          {act.error && <ProblemAlert error={act.error} />}
          <Form
            name="token"
            form={form}
            layout="vertical"
            requiredMark={false}
            initialValues={{ scopes: ["read"], days: 90 }}
            onFinish={(entered: Entered) => act.mutate(entered)}
          >
            <Form.Item name="name" label={say("tokens.name")} rules={[required]}>
              <Input autoFocus maxLength={60} />
            </Form.Item>
            <Form.Item name="scopes" label={say("tokens.scopes")} rules={[required]}>
              <Checkbox.Group options={mine.map((scope) => ({ value: scope, label: wordFor(say, "scope", scope) }))} />
            </Form.Item>
            <Form.Item name="days" label={say("tokens.lifetime")}>
              <Select options={DAYS.map((days) => ({ value: days, label: say("tokens.days", { count: days }) }))} />
            </Form.Item>
          </Form>
        </div>
      )}
    </Modal>
  );
}
