import { useQuery } from "@tanstack/react-query";
import { Alert, Button, Form, Input } from "antd";
import { Link, Navigate } from "react-router-dom";
import { useAct } from "../../api/act";
import { answer, api } from "../../api/client";
import { queries } from "../../api/queries";
import { ProblemAlert } from "../../components/basics";
import { useSay } from "../../i18n";
import { logIn } from "../../session/login";
import { useSession } from "../../session/me";
import { Gate } from "./gate";

interface Entered {
  login: string;
  password: string;
  repeat: string;
  invitation?: string;
}

async function register({ login, password, invitation }: Entered): Promise<void> {
  await answer(api.POST("/api/v1/auth/register", { body: { login, password, invitation: invitation || undefined } }));
  await logIn(login, password);
}

export function RegisterPage() {
  const say = useSay();
  const state = useSession();
  const registration = useQuery(queries.version()).data?.registration;
  const act = useAct(register, { showsProblemItself: true });
  if (state === "in") return <Navigate to="/" replace />;
  const required = { required: true, message: say("field.required") };
  if (registration === "closed") {
    return (
      <Gate title={say("register.title")}>
        <Alert type="info" message={say("register.closed")} />
        <Link to="/login">{say("register.to_login")}</Link>
      </Gate>
    );
  }
  return (
    <Gate title={say("register.title")}>
      {act.error && <ProblemAlert error={act.error} />}
      <Form name="register" layout="vertical" requiredMark={false} onFinish={(entered: Entered) => act.mutate(entered)}>
        <Form.Item name="login" label={say("login.login")} rules={[required]}>
          <Input autoComplete="username" autoCapitalize="none" autoFocus />
        </Form.Item>
        <Form.Item name="password" label={say("login.password")} extra={say("register.password.hint")} rules={[required]}>
          <Input.Password autoComplete="new-password" />
        </Form.Item>
        <Form.Item
          name="repeat"
          label={say("register.repeat")}
          dependencies={["password"]}
          rules={[required, ({ getFieldValue }) => ({
            validator: (_, typed) =>
              !typed || typed === getFieldValue("password")
                ? Promise.resolve()
                : Promise.reject(new Error(say("register.repeat.wrong"))),
          })]}
        >
          <Input.Password autoComplete="new-password" />
        </Form.Item>
        {registration === "invitation" && (
          <Form.Item name="invitation" label={say("register.invitation")} extra={say("register.invitation.hint")} rules={[required]}>
            <Input autoComplete="off" />
          </Form.Item>
        )}
        <Button type="primary" htmlType="submit" block loading={act.isPending}>{say("register.submit")}</Button>
      </Form>
      <Link to="/login">{say("register.to_login")}</Link>
    </Gate>
  );
}
