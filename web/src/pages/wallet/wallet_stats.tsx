// The wallet in figures.
import { useQuery } from "@tanstack/react-query";
import { queries } from "../../api/queries";
import { Balance, PerHour } from "../../components/amount";
import { Loaded, Stat } from "../../components/basics";
import { Countdown } from "../../components/span";
import { useSay } from "../../i18n";

export function WalletStats({ whole = false }: { whole?: boolean }) {
  const say = useSay();
  const wallet = useQuery(queries.wallet());
  return (
    <Loaded query={wallet}>
      {(view) => (
        <div className={whole ? "tiles three" : "tiles"}>
          <Stat name={say("wallet.available")} value={<Balance value={view.available} />} note={whole && say("wallet.available.note")} />
          <Stat name={say("wallet.burn")} value={<PerHour value={view.burn_per_hour} />} />
          <Stat
            name={say("wallet.runway")}
            value={view.runway_ms === undefined ? "–" : <Countdown to={Date.parse(view.at) + view.runway_ms} />}
            note={view.runway_ms === undefined && say("wallet.runway.forever")}
          />
          <Stat name={say("wallet.accrued")} value={<Balance value={view.accrued} />} />
          {whole && <Stat name={say("wallet.held")} value={<Balance value={view.held} />} />}
          {whole && <Stat name={say("wallet.balance")} value={<Balance value={view.balance} />} />}
        </div>
      )}
    </Loaded>
  );
}
