// Which of what we keep is out of date after an event.
import type { QueryKey } from "@tanstack/react-query";
import type { EventView } from "./types";

const MONEY: QueryKey[] = [["wallet"], ["statement"], ["transactions"], ["quote"]];

export function staleAfter(event: Pick<EventView, "kind" | "instance_id">): QueryKey[] {
  const keys: QueryKey[] = [["events"], ["operator"]];
  const [noun] = event.kind.split(".");
  if (noun === "instance") keys.push(["instances"], ["offers"], ...MONEY);
  if (event.instance_id) keys.push(["instance", event.instance_id]);
  if (noun === "wallet") keys.push(...MONEY);
  if (noun === "host") keys.push(["offers"]);
  if (noun === "price") keys.push(["prices"], ["offers"], ["quote"]);
  if (noun === "ssh_key") keys.push(["ssh-keys"]);
  if (noun === "token" || event.kind === "account.login") keys.push(["tokens"]);
  if (event.kind === "account.password_changed") keys.push(["tokens"]);
  return keys;
}
