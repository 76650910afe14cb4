import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Alert, Button, Form, Input } from "antd";
import { Link, Navigate, useLocation } from "react-router-dom";
import { useAct } from "../../api/act";
import { queries } from "../../api/queries";
import { ProblemAlert } from "../../components/basics";
import { useSay } from "../../i18n";
import { useSession } from "../../session/me";
import { logIn } from "../../session/login";
import { Gate } from "./gate";

interface Entered {
  login: string;
  password: string;
}

export function LoginPage() {
  const say = useSay();
  const state = useSession();
  const from = (useLocation().state as { from?: string } | null)?.from;
  const cache = useQueryClient();
  const registration = useQuery(queries.version()).data?.registration;
  const login = useAct(({ login, password }: Entered) => logIn(login, password), {
    showsProblemItself: true,
    onDone: () => void cache.invalidateQueries(),
  });
  if (state === "in") return <Navigate to={from ?? "/"} replace />;
  const required = [{ required: true, message: say("field.required") }];
  return (
    <Gate title={say("login.title")}>
      {from && from !== "/" && !login.error && <Alert type="info" message={say("login.ended")} />}
      {login.error && <ProblemAlert error={login.error} />}
      <Form name="login" layout="vertical" requiredMark={false} onFinish={(entered: Entered) => login.mutate(entered)}>
        <Form.Item name="login" label={say("login.login")} rules={required}>
          <Input autoComplete="username" autoCapitalize="none" autoFocus />
        </Form.Item>
        <Form.Item name="password" label={say("login.password")} rules={required}>
          <Input.Password autoComplete="current-password" />
        </Form.Item>
        <Button type="primary" htmlType="submit" block loading={login.isPending}>{say("login.submit")}</Button>
      </Form>
      {registration && registration !== "closed" && <Link to="/register">{say("login.to_register")}</Link>}
      {registration === "closed" && <p className="soft small">{say("login.closed")}</p>}
    </Gate>
  );
}
