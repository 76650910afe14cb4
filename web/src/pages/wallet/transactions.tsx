// The ledger's transactions, newest first, page by page.
import { useInfiniteQuery } from "@tanstack/react-query";
import { Button } from "antd";
import { answer, api } from "../../api/client";
import type { TransactionView } from "../../api/types";
import { Exact } from "../../components/amount";
import { Empty, Loaded, Moment, Panel } from "../../components/basics";
import { DataTable, type Column } from "../../components/data_table";
import { useSay, type Say } from "../../i18n";

function columns(say: Say): Column<TransactionView>[] {
  return [
    { name: say("transactions.what"), value: (each) => say(`transaction.${each.kind}`) },
    { name: say("transactions.when"), value: (each) => <Moment at={each.at} /> },
    { name: say("transactions.by"), value: (each) => (each.actor.startsWith("system:") ? say("brand") : each.actor) },
    { name: say("transactions.note"), value: (each) => each.note },
    { name: say("transactions.amount"), end: true, value: (each) => <Exact value={each.amount} /> },
  ];
}

export function Transactions() {
  const say = useSay();
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
          return <DataTable label={say("transactions.title")} columns={columns(say)} rows={rows} rowKey={(each) => each.id} />;
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
