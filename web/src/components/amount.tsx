// Money on a page, in the deployment's currency.
import { useQuery } from "@tanstack/react-query";
import { queries } from "../api/queries";
import { useSay } from "../i18n";
import { costOf, formatBalance, formatExact, formatRunning, toMicro, type Currency } from "../lib/money";
import { serverNow } from "../lib/time";
import { useNow } from "./now";

const UNKNOWN: Currency = { code: "", symbol: "", decimals: 2 };

/** Of the deployment; it is known before a login. */
export function useCurrency(): Currency {
  return useQuery(queries.version()).data?.currency ?? UNKNOWN;
}

/** A balance or a total, rounded for display. */
export function Balance({ value }: { value: string }) {
  return <span className="figure">{formatBalance(toMicro(value), useCurrency())}</span>;
}

/** A line of a bill, with all its digits. */
export function Exact({ value }: { value: string }) {
  return <span className="figure">{formatExact(toMicro(value), useCurrency())}</span>;
}

/** A price per hour. */
export function PerHour({ value }: { value: string }) {
  const say = useSay();
  return (
    <span className="figure">
      {formatExact(toMicro(value), useCurrency())}
      <small className="soft">{say("unit.per_hour")}</small>
    </span>
  );
}

/** What grows at a rate since it was asked (`at`, of the server's clock). */
export function Growing({ value, rate, at }: { value: string; rate: string; at: number }) {
  const now = useNow(toMicro(rate) > 0n);
  const since = Math.max(0, now - at);
  return <span className="figure">{formatRunning(toMicro(value) + costOf(toMicro(rate), since), useCurrency())}</span>;
}

/** The server's moment of what the cache took at `updatedAt` of the browser's clock. */
export function serverMomentOf(updatedAt: number): number {
  return updatedAt + (serverNow() - Date.now());
}
