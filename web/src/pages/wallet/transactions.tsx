// The ledger's transactions, newest first, page by page.
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Button } from "antd";
import { Link } from "react-router-dom";
import { answer, api } from "../../api/client";
import { queries } from "../../api/queries";
import type { TransactionView } from "../../api/types";
import { Exact } from "../../components/amount";
import { Empty, Loaded, Moment, Panel } from "../../components/basics";
import { DataTable, type Column } from "../../components/data_table";
import { useSay, type Say } from "../../i18n";
import type { TextKey } from "../../i18n/text";

// What the server writes by itself; anything else is a note of the operator.
const OWN_NOTES: Record<string, TextKey | undefined> = {
  usage: undefined,
  "minimum charge of a run": "meter.minimum",
};

function noteText(say: Say, note: string): string {
  if (!(note in OWN_NOTES)) return note;
  const key = OWN_NOTES[note];
  return key ? say(key) : "";
}

function Whose({ id, nameOf }: { id: string; nameOf(id: string): string }) {
  return <Link to={`/instances/${id}`} className="wrap-anywhere">{nameOf(id)}</Link>;
}

function columns(say: Say, nameOf: (id: string) => string): Column<TransactionView>[] {
  return [
    { name: say("transactions.what"), value: (each) => say(`transaction.${each.kind}`) },
    { name: say("transactions.when"), value: (each) => <Moment at={each.at} /> },
    { name: say("transactions.by"), value: (each) => (each.actor.startsWith("system:") ? say("brand") : each.actor) },
    { name: say("transactions.instance"), value: (each) => each.instance_id && <Whose id={each.instance_id} nameOf={nameOf} /> },
    { name: say("transactions.note"), value: (each) => noteText(say, each.note) },
    { name: say("transactions.amount"), end: true, value: (each) => <Exact value={each.amount} /> },
  ];
}

export function Transactions() {
  const say = useSay();
  const instances = useQuery(queries.instances(true)).data;
  const nameOf = (id: string) => instances?.find((each) => each.id === id)?.name ?? id;
  const query = useInfiniteQuery({
    queryKey: ["transactions"],
    queryFn: ({ pageParam }) => answer(api.GET("/api/v1/transactions", { params: { query: { after: pageParam } } })),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next,
  });
  return (
    <Panel flush title={say("transactions.title")}>
      <Loaded query={query}>
        {({ pages }) => {
          const rows = pages.flatMap((page) => page.items);
          if (!rows.length) return <Empty>{say("transactions.none")}</Empty>;
          return <DataTable label={say("transactions.title")} columns={columns(say, nameOf)} rows={rows} rowKey={(each) => each.id} />;
        }}
      </Loaded>
      {query.hasNextPage && (
        <div style={{ padding: 16, textAlign: "center" }}>
          <Button loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>{say("transactions.older")}</Button>
        </div>
      )}
    </Panel>
  );
}
