// Keeps the pages up to date by the event stream, and says when it is cut for longer than a blink.
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { LiveStream } from "../api/live";
import { staleAfter } from "../api/refresh_by_event";
import { useSay } from "../i18n";

const BLINK_MS = 4000;

export function Live() {
  const cache = useQueryClient();
  const say = useSay();
  const [connected, setConnected] = useState(true);
  const [isShown, setShown] = useState(false);

  useEffect(() => {
    const stream = new LiveStream({
      onEvent: (event) => {
        for (const queryKey of staleAfter(event)) void cache.invalidateQueries({ queryKey });
      },
      onGap: () => void cache.invalidateQueries(),
      onState: setConnected,
    });
    return () => stream.close();
  }, [cache]);

  useEffect(() => {
    if (connected) {
      setShown(false);
      return undefined;
    }
    const timer = setTimeout(() => setShown(true), BLINK_MS);
    return () => clearTimeout(timer);
  }, [connected]);

  return <div role="status">{isShown && <div className="banner">{say("live.lost")}</div>}</div>;
}
