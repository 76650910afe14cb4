import { useQuery } from "@tanstack/react-query";
import { Alert, Checkbox, Select } from "antd";
import { useState } from "react";
import { queries } from "../../api/queries";
import { Empty, Loaded, Page, Panel } from "../../components/basics";
import { useSay } from "../../i18n";
import { monthOf, monthRange, monthsBack, monthText, zoneOf } from "../../lib/time";
import { BillTable } from "./bill_table";
import { Transactions } from "./transactions";
import { WalletStats } from "./wallet_stats";

const MONTHS_SHOWN = 24;
const MS_PER_HOUR = 3_600_000;

function Statement() {
  const say = useSay();
  const months = monthsBack(monthOf(new Date()), MONTHS_SHOWN);
  const [chosen, setChosen] = useState(monthText(months[0]!));
  const [explain, setExplain] = useState(false);
  const range = monthRange(months.find((month) => monthText(month) === chosen) ?? months[0]!);
  const bill = useQuery(queries.statement({ ...range, explain }));
  return (
    <Panel
      flush
      title={say("bill.title")}
      actions={
        <div className="row">
          <Checkbox checked={explain} onChange={(event) => setExplain(event.target.checked)}>{say("bill.explain")}</Checkbox>
          <Select
            aria-label={say("bill.month")}
            style={{ width: 120 }}
            value={chosen}
            onChange={setChosen}
            options={months.map((month) => ({ value: monthText(month), label: monthText(month) }))}
          />
        </div>
      }
    >
      <Loaded query={bill}>
        {(found) => (
          <>
            {explain && found.explained && found.lines.length > 0 && (
              <div style={{ padding: "0 20px 12px" }}>
                <Alert type={found.agrees ? "success" : "error"} showIcon message={say(found.agrees ? "bill.agrees" : "bill.differs")} />
              </div>
            )}
            {found.lines.length ? <BillTable bill={found} withInstance /> : <Empty>{say("bill.none")}</Empty>}
            <p className="soft small row apart" style={{ padding: "0 20px 14px" }}>
              <span>{say("bill.zone", { zone: zoneOf(new Date()) })}</span>
              {found.lines.length > 0 && (
                <span className="figure">{say("bill.card_time")} {(found.card_time_ms / MS_PER_HOUR).toFixed(2)}</span>
              )}
            </p>
          </>
        )}
      </Loaded>
    </Panel>
  );
}

export default function WalletPage() {
  const say = useSay();
  return (
    <Page title={say("wallet.title")}>
      <WalletStats whole />
      <p className="soft">{say("wallet.topup.how")}</p>
      <Statement />
      <Transactions />
    </Page>
  );
}
