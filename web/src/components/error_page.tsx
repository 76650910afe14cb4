// Shown instead of everything when drawing failed: a mistake of ours, or a page of an older build.
import { Button, Result } from "antd";
import { useSay } from "../i18n";

export function ErrorPage() {
  const say = useSay();
  return (
    <main>
      <Result
        status="warning"
        title={<h1>{say("problem.page")}</h1>}
        subTitle={say("problem.page.next")}
        extra={<Button type="primary" onClick={() => window.location.reload()}>{say("problem.reload")}</Button>}
      />
    </main>
  );
}
