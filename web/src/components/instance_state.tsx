// An instance's state in one look: text first, colour second.
import type { InstanceView } from "../api/types";
import { useSay } from "../i18n";
import { Badge, Simulated } from "./basics";
import { stateText, stateTone } from "./words";

export function InstanceState({ view }: { view: InstanceView }) {
  const say = useSay();
  return (
    <span className="row" style={{ gap: 6 }}>
      <Badge tone={stateTone(view)}>{stateText(say, view)}</Badge>
      {!view.reachable && <Badge tone="warn">{say("instance.silent")}</Badge>}
      {view.fault && <Badge tone="bad">{say("instance.fault")}</Badge>}
      {view.notice && <Badge tone="warn">{say("instance.notice")}</Badge>}
      {view.simulated && <Simulated />}
    </span>
  );
}
