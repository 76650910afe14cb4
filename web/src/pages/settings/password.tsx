import { App, Button, Form, Input } from "antd";
import { useAct } from "../../api/act";
import { answer, api } from "../../api/client";
import { Panel, ProblemAlert } from "../../components/basics";
import { useSay } from "../../i18n";
import { useMe } from "../../session/me";

interface Entered {
  old: string;
  fresh: string;
}

export function Password() {
  const say = useSay();
  const login = useMe()?.account.login;
  const [form] = Form.useForm<Entered>();
  const { notification } = App.useApp();
  const act = useAct(
    ({ old, fresh }: Entered) =>
      answer(api.PUT("/api/v1/me/password", { body: { old_password: old, new_password: fresh } })),
    {
      showsProblemItself: true,
      refresh: [["tokens"]],
      onDone: () => {
        form.resetFields();
        notification.success({ message: say("password.done") });
      },
    },
  );
  const rules = [{ required: true, message: say("field.required") }];
  return (
    <Panel title={say("password.title")}>
      <div className="stack tight">
        {act.error && <ProblemAlert error={act.error} />}
        <Form name="password" form={form} layout="vertical" requiredMark={false} onFinish={(entered: Entered) => act.mutate(entered)}>
          <input type="text" name="username" autoComplete="username" value={login ?? ""} readOnly hidden />
          <Form.Item name="old" label={say("password.old")} rules={rules}>
            <Input.Password autoComplete="current-password" />
          </Form.Item>
          <Form.Item name="fresh" label={say("password.new")} extra={say("register.password.hint")} rules={rules}>
            <Input.Password autoComplete="new-password" />
          </Form.Item>
          <div className="row">
            <Button htmlType="submit" loading={act.isPending}>{say("password.submit")}</Button>
            <span className="soft small">{say("password.ends")}</span>
          </div>
        </Form>
      </div>
    </Panel>
  );
}
