import { useQuery } from "@tanstack/react-query";
import { Button } from "antd";
import { useState } from "react";
import { useAct } from "../../api/act";
import { answer, api } from "../../api/client";
import { queries } from "../../api/queries";
import type { AccountView, InstanceView } from "../../api/types";
import { Balance } from "../../components/amount";
import { Badge, Loaded, Moment, Page, Panel } from "../../components/basics";
import { DataTable, type Column } from "../../components/data_table";
import { useSay, type Say } from "../../i18n";
import { AddUserDialog, InvitationDialog, TopUpDialog } from "./user_dialogs";

function columns(say: Say, instances: InstanceView[], topUp: (account: AccountView) => void): Column<AccountView>[] {
  const running = (account: AccountView) =>
    instances.filter((each) => each.account_id === account.id && each.observed === "running").length;
  return [
    { name: say("users.login"), lead: true, value: (account) => <span className="strong wrap-anywhere">{account.login}</span> },
    { name: say("users.role"), value: (account) => say(`role.${account.role}`) },
    {
      name: say("users.state"),
      value: (account) => (
        <Badge tone={account.state === "active" ? "good" : "bad"}>{say(`account.${account.state}`)}</Badge>
      ),
    },
    { name: say("users.instances"), end: true, value: (account) => <span className="figure">{running(account)}</span> },
    {
      name: say("users.available"),
      end: true,
      value: (account) => account.available !== undefined && <Balance value={account.available} />,
    },
    { name: say("users.created"), value: (account) => <Moment at={account.created_at} /> },
    {
      name: say("users.act"),
      unnamed: true,
      end: true,
      value: (account) => (
        <Button size="small" aria-label={say("users.topup.what", { login: account.login })} onClick={() => topUp(account)}>
          {say("users.topup")}
        </Button>
      ),
    },
  ];
}

export default function UsersPage() {
  const say = useSay();
  const accounts = useQuery(queries.operatorAccounts());
  const instances = useQuery(queries.operatorInstances()).data ?? [];
  const [toppedUp, setToppedUp] = useState<AccountView>();
  const [isAdding, setAdding] = useState(false);
  const invite = useAct(() => answer(api.POST("/api/v1/admin/invitations")));
  return (
    <Page
      title={say("users.title")}
      actions={
        <>
          <Button loading={invite.isPending} onClick={() => invite.mutate(undefined)}>{say("users.invite")}</Button>
          <Button type="primary" onClick={() => setAdding(true)}>{say("users.add")}</Button>
        </>
      }
    >
      <Loaded query={accounts}>
        {(found) => (
          <Panel flush>
            <DataTable
              label={say("users.title")}
              columns={columns(say, instances, setToppedUp)}
              rows={found}
              rowKey={(account) => account.id}
            />
          </Panel>
        )}
      </Loaded>
      {toppedUp && <TopUpDialog account={toppedUp} onClose={() => setToppedUp(undefined)} />}
      {isAdding && <AddUserDialog onClose={() => setAdding(false)} />}
      {invite.data && <InvitationDialog invitation={invite.data} onClose={invite.reset} />}
    </Page>
  );
}
