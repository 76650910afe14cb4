// What a start would cost, and why it is not possible now, if so.
import { Alert } from "antd";
import type { QuoteView } from "../api/types";
import { useSay, type Say } from "../i18n";
import { formatBalance, formatExact, toMicro, type Currency } from "../lib/money";
import { formatCores, formatSize } from "../lib/size";
import { Balance, PerHour, useCurrency } from "./amount";
import { Facts, Simulated } from "./basics";
import { Shape } from "./shape";

export function stoppedText(say: Say, currency: Currency, perDay: string): string {
  const micro = toMicro(perDay);
  return micro === 0n
    ? say("create.stopped.nothing")
    : say("create.stopped.per_day", { price: formatExact(micro, currency) });
}

export function QuotePanel({ quote, isNew }: { quote: QuoteView; isNew: boolean }) {
  const say = useSay();
  const currency = useCurrency();
  return (
    <div className="stack tight">
      <div className="row apart">
        <span className="price"><PerHour value={quote.rate_per_hour} /></span>
        {quote.simulated && <Simulated />}
      </div>
      <Facts
        facts={[
          { name: say("instances.shape"), value: <Shape view={quote} /> },
          quote.placeable && {
            name: say("create.shape"),
            value: say("market.cores", { cores: formatCores(quote.millicores), memory: formatSize(quote.memory_bytes) }),
          },
          isNew && {
            name: say("create.disks"),
            value: say("create.disks.value", { system: formatSize(quote.system_disk_bytes), data: formatSize(quote.data_disk_bytes) }),
          },
          { name: say("create.stopped"), value: stoppedText(say, currency, quote.stopped_per_day) },
          {
            name: say("create.needed"),
            value: <><Balance value={quote.needed} /><div className="soft small">{say("create.needed.why")}</div></>,
          },
          { name: say("create.available"), value: <Balance value={quote.available} /> },
        ]}
      />
      <Hindrance quote={quote} />
    </div>
  );
}

function Hindrance({ quote }: { quote: QuoteView }) {
  const say = useSay();
  const currency = useCurrency();
  if (!quote.affordable) {
    const missing = formatBalance(toMicro(quote.needed) - toMicro(quote.available), currency);
    return <Alert type="warning" showIcon message={say("create.no_money", { missing })} description={say("create.no_money.next")} />;
  }
  if (quote.placeable) return null;
  if (quote.cards_free >= quote.gpu_count) {
    return <Alert type="warning" showIcon message={say("create.no_room")} description={say("create.no_room.next")} />;
  }
  return (
    <Alert type="warning" showIcon message={say("create.no_card", { free: quote.cards_free })} description={say("create.no_card.next")} />
  );
}
