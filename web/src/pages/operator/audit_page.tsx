import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Button, Input } from "antd";
import { useState } from "react";
import { answer, api } from "../../api/client";
import { queries } from "../../api/queries";
import type { EventView } from "../../api/types";
import { Empty, Loaded, Moment, Page, Panel } from "../../components/basics";
import { DataTable, type Column } from "../../components/data_table";
import { reasonText, wordFor } from "../../components/words";
import { useSay, type Say } from "../../i18n";

const PAGE = 50;
const REFRESH_MS = 10_000;

function columns(say: Say, loginOf: (id: string | undefined) => string): Column<EventView>[] {
  return [
    { name: say("audit.seq"), value: (event) => <span className="figure soft">{event.seq}</span> },
    { name: say("audit.when"), value: (event) => <Moment at={event.at} /> },
    { name: say("audit.what"), value: (event) => wordFor(say, "event", event.kind) },
    { name: say("audit.whose"), value: (event) => loginOf(event.account_id) },
    { name: say("audit.by"), value: (event) => <span className="wrap-anywhere">{event.actor}</span> },
    { name: say("audit.why"), value: (event) => reasonText(say, event.reason) },
    { name: say("audit.detail"), value: (event) => <span className="mono soft wrap-anywhere">{event.detail}</span> },
  ];
}

/** The latest, or those before an event, oldest first. */
function page(before: number | undefined) {
  const query = { limit: String(PAGE), ...(before === undefined ? {} : { before: String(before) }) };
  return answer(api.GET("/api/v1/admin/events", { params: { query } }));
}

export default function AuditPage() {
  const say = useSay();
  const [typed, setTyped] = useState("");
  const accounts = useQuery(queries.operatorAccounts()).data;
  const loginOf = (id: string | undefined) => accounts?.find((account) => account.id === id)?.login ?? id ?? "";
  const query = useInfiniteQuery({
    queryKey: ["operator", "audit"],
    queryFn: ({ pageParam }) => page(pageParam),
    initialPageParam: undefined as number | undefined,
    getNextPageParam: ({ items }) => (items.length === PAGE ? items[0]?.seq : undefined),
    refetchInterval: REFRESH_MS,
  });
  const fits = (event: EventView) =>
    [loginOf(event.account_id), event.kind, wordFor(say, "event", event.kind), event.actor, event.reason, event.detail, reasonText(say, event.reason)]
      .some((text) => text.toLowerCase().includes(typed.trim().toLowerCase()));
  return (
    <Page title={say("audit.title")}>
      <Input
        allowClear
        style={{ maxWidth: 360 }}
        aria-label={say("audit.filter")}
        placeholder={say("audit.filter")}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
      />
      <Loaded query={query}>
        {({ pages }) => {
          const rows = pages.flatMap(({ items }) => [...items].reverse()).filter(fits);
          return (
            <Panel flush>
              {rows.length ? (
                <DataTable label={say("audit.table")} columns={columns(say, loginOf)} rows={rows} rowKey={(event) => String(event.seq)} />
              ) : (
                <Empty>{say("audit.none")}</Empty>
              )}
            </Panel>
          );
        }}
      </Loaded>
      {query.hasNextPage && (
        <div style={{ textAlign: "center" }}>
          <Button loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>{say("audit.older")}</Button>
        </div>
      )}
    </Page>
  );
}
