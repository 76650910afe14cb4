// The lines of a bill. An explained bill shows how each was computed again.
import { Link } from "react-router-dom";
import type { BillLineView, BillView } from "../../api/types";
import { Balance, Exact, PerHour, useCurrency } from "../../components/amount";
import { Badge, Moment } from "../../components/basics";
import { DataTable, type Column } from "../../components/data_table";
import { useModelName } from "../../components/shape";
import { exactSpan } from "../../components/span";
import { reasonText } from "../../components/words";
import { useSay, type Say } from "../../i18n";
import { formatExact, toMicro } from "../../lib/money";

function What({ line }: { line: BillLineView }) {
  const say = useSay();
  const nameOf = useModelName();
  return (
    <>
      <div>{say(`meter.${line.meter}`)}</div>
      {line.gpu_model && <div className="soft small">{say("instance.shape", { count: line.quantity, model: nameOf(line.gpu_model) })}</div>}
    </>
  );
}

function Why({ line }: { line: BillLineView }) {
  const say = useSay();
  if (line.meter === "minimum") return <span className="small">{reasonText(say, line.open_cause)}</span>;
  const end = line.close_cause ? reasonText(say, line.close_cause) : say("bill.open");
  return <span className="small">{reasonText(say, line.open_cause)} → {end}</span>;
}

function How({ line }: { line: BillLineView }) {
  const say = useSay();
  const currency = useCurrency();
  const explain = line.explain;
  if (!explain) return null;
  return (
    <>
      {line.meter !== "minimum" && (
        <div className="small figure">
          {say("bill.how.value", {
            quantity: line.quantity,
            rate: formatExact(toMicro(line.rate_per_hour), currency),
            span: exactSpan(say, explain.charged_ms),
          })}
        </div>
      )}
      <Badge tone={explain.agrees ? "good" : "bad"}>{say(explain.agrees ? "bill.line.agrees" : "bill.line.differs")}</Badge>
    </>
  );
}

function columns(say: Say, withInstance: boolean, explained: boolean): Column<BillLineView>[] {
  const all: (Column<BillLineView> | false)[] = [
    withInstance && {
      name: say("bill.instance"),
      lead: true,
      value: (line) => <Link to={`/instances/${line.instance_id}`} className="wrap-anywhere">{line.instance_name}</Link>,
    },
    { name: say("bill.meter"), value: (line) => <What line={line} /> },
    { name: say("bill.from"), value: (line) => <Moment at={line.opened_at} /> },
    {
      name: say("bill.to"),
      value: (line) => (line.closed_at ? <Moment at={line.closed_at} /> : <Badge tone="good">{say("bill.open")}</Badge>),
    },
    { name: say("bill.why"), value: (line) => <Why line={line} /> },
    { name: say("bill.rate"), end: true, value: (line) => line.meter !== "minimum" && <PerHour value={line.rate_per_hour} /> },
    explained && { name: say("bill.how"), value: (line) => <How line={line} /> },
    { name: say("bill.amount"), end: true, value: (line) => <Exact value={line.amount} /> },
  ];
  return all.filter((column) => column !== false);
}

export function BillTable({ bill, withInstance }: { bill: BillView; withInstance: boolean }) {
  const say = useSay();
  return (
    <>
      <DataTable
        label={say("bill.title")}
        columns={columns(say, withInstance, bill.explained)}
        rows={bill.lines}
        rowKey={(line) => line.segment_id}
      />
      <div className="row apart" style={{ padding: "12px 20px", borderTop: "1px solid var(--line)" }}>
        <span className="soft">{say("bill.total")}</span>
        <span className="strong"><Balance value={bill.total} /></span>
      </div>
    </>
  );
}
