import { useQuery } from "@tanstack/react-query";
import { App, Button } from "antd";
import { useState } from "react";
import { useAct } from "../../api/act";
import { answer, api } from "../../api/client";
import { queries } from "../../api/queries";
import type { TokenView } from "../../api/types";
import { Loaded, Moment, Panel } from "../../components/basics";
import { DataTable, type Column } from "../../components/data_table";
import { wordFor } from "../../components/words";
import { useSay, type Say } from "../../i18n";
import { NewToken } from "./new_token";

function columns(say: Say, revoke: (token: TokenView) => void): Column<TokenView>[] {
  return [
    { name: say("tokens.name"), lead: true, value: (token) => <span className="strong wrap-anywhere">{token.name}</span> },
    { name: say("tokens.kind"), value: (token) => wordFor(say, "token", token.kind) },
    {
      name: say("tokens.scopes"),
      value: (token) => token.scopes.split(" ").map((scope) => wordFor(say, "scope", scope)).join(" · "),
    },
    { name: say("tokens.created"), value: (token) => <Moment at={token.created_at} /> },
    {
      name: say("tokens.expires"),
      value: (token) => (token.expires_at ? <Moment at={token.expires_at} /> : say("tokens.forever")),
    },
    {
      name: say("tokens.act"),
      unnamed: true,
      end: true,
      value: (token) => (
        <Button size="small" aria-label={say("tokens.revoke.what", { name: token.name })} onClick={() => revoke(token)}>
          {say("tokens.revoke")}
        </Button>
      ),
    },
  ];
}

export function Tokens() {
  const say = useSay();
  const { modal } = App.useApp();
  const tokens = useQuery(queries.tokens());
  const [isOpen, setOpen] = useState(false);
  const remove = useAct(
    (id: string) => answer(api.DELETE("/api/v1/tokens/{id}", { params: { path: { id } } })),
    { refresh: [["tokens"]] },
  );
  const revoke = (token: TokenView) =>
    void modal.confirm({
      title: say("tokens.revoke.title", { name: token.name }),
      content: say("tokens.revoke.text"),
      okText: say("tokens.revoke"),
      okButtonProps: { danger: true },
      onOk: () => remove.mutateAsync(token.id).catch(() => undefined),
    });
  return (
    <Panel flush title={say("tokens.title")} actions={<Button onClick={() => setOpen(true)}>{say("tokens.add")}</Button>}>
      <Loaded query={tokens}>
        {(found) => <DataTable label={say("tokens.title")} columns={columns(say, revoke)} rows={found} rowKey={(token) => token.id} />}
      </Loaded>
      {isOpen && <NewToken onClose={() => setOpen(false)} />}
    </Panel>
  );
}
