import { useQuery } from "@tanstack/react-query";
import { App, Button, Form, Input } from "antd";
import { useAct } from "../../api/act";
import { answer, api } from "../../api/client";
import { queries } from "../../api/queries";
import { Loaded, Moment, Panel, ProblemAlert } from "../../components/basics";
import { useSay } from "../../i18n";

interface Entered {
  publicKey: string;
  name?: string;
}

function List() {
  const say = useSay();
  const keys = useQuery(queries.sshKeys());
  const { modal } = App.useApp();
  const remove = useAct(
    (id: string) => answer(api.DELETE("/api/v1/ssh-keys/{id}", { params: { path: { id } } })),
    { refresh: [["ssh-keys"]] },
  );
  const ask = (id: string, name: string) =>
    void modal.confirm({
      title: say("keys.remove", { name }),
      content: say("keys.remove.text"),
      okText: say("act.remove"),
      okButtonProps: { danger: true },
      onOk: () => remove.mutateAsync(id).catch(() => undefined),
    });
  return (
    <Loaded query={keys}>
      {(found) =>
        found.length ? (
          <ul className="list">
            {found.map((key) => (
              <li key={key.id} className="row apart" style={{ flexWrap: "nowrap" }}>
                <div style={{ minWidth: 0 }}>
                  <div className="strong wrap-anywhere">{key.name}</div>
                  <div className="mono soft wrap-anywhere">{key.fingerprint}</div>
                  <div className="soft small"><Moment at={key.created_at} /></div>
                </div>
                <Button size="small" onClick={() => ask(key.id, key.name)} aria-label={`${say("act.remove")} ${key.name}`}>
                  {say("act.remove")}
                </Button>
              </li>
            ))}
          </ul>
        ) : (
          <p className="soft">{say("keys.none")}</p>
        )
      }
    </Loaded>
  );
}

export function Keys() {
  const say = useSay();
  const [form] = Form.useForm<Entered>();
  const add = useAct(
    ({ publicKey, name }: Entered) =>
      answer(api.POST("/api/v1/ssh-keys", { body: { public_key: publicKey.trim(), ...(name ? { name } : {}) } })),
    { showsProblemItself: true, refresh: [["ssh-keys"]], onDone: () => form.resetFields() },
  );
  return (
    <Panel title={say("keys.title")}>
      <div className="stack">
        <List />
        {add.error && <ProblemAlert error={add.error} />}
        <Form name="key" form={form} layout="vertical" requiredMark={false} onFinish={(entered: Entered) => add.mutate(entered)}>
          <Form.Item
            name="publicKey"
            label={say("keys.public")}
            extra={say("keys.public.hint")}
            rules={[
              { required: true, message: say("field.required") },
              // A private key must not even be sent.
              { validator: (_, typed?: string) => (typed?.includes("PRIVATE KEY") ? Promise.reject(new Error(say("keys.private"))) : Promise.resolve()) },
            ]}
          >
            <Input.TextArea className="mono" rows={3} spellCheck={false} autoComplete="off" />
          </Form.Item>
          <Form.Item name="name" label={say("keys.name")} extra={say("keys.name.hint")}>
            <Input maxLength={60} />
          </Form.Item>
          <Button htmlType="submit" loading={add.isPending}>{say("keys.add")}</Button>
        </Form>
      </div>
    </Panel>
  );
}
