// The server's present moment, once a second, for what counts up or down.
import { useEffect, useState } from "react";
import { serverNow } from "../lib/time";

export function useNow(isTicking = true): number {
  const [now, setNow] = useState(serverNow);
  useEffect(() => {
    if (!isTicking) return undefined;
    const timer = setInterval(() => setNow(serverNow()), 1000);
    return () => clearInterval(timer);
  }, [isTicking]);
  return now;
}
