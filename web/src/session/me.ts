// Who is logged in.
import { useQuery } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import { queries } from "../api/queries";
import { session, type SessionState } from "./session";

export function useSession(): SessionState {
  return useSyncExternalStore(session().subscribe, session().current);
}

export function useMe() {
  return useQuery(queries.me()).data;
}
