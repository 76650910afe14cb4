// Events, newest first: what, when, by whom and why.
import { Link } from "react-router-dom";
import type { EventView, InstanceView } from "../api/types";
import { useSay, type Say } from "../i18n";
import { Moment } from "./basics";
import { reasonText, wordFor } from "./words";

/** By whom and why; "system:observe" is Cardhour itself. A reason that says the same again is left out. */
export function whoAndWhy(say: Say, event: EventView): string {
  const actor = event.actor.startsWith("system:") ? say("brand") : event.actor;
  const reason = reasonText(say, event.reason);
  const repeats = event.reason === "ready" || event.kind.endsWith(`.${event.reason}`);
  return repeats ? actor : say("history.by", { actor, reason });
}

export function History(props: { events: EventView[]; instances?: InstanceView[] | undefined; none: string }) {
  const say = useSay();
  if (!props.events.length) return <p className="soft">{props.none}</p>;
  return (
    <ol className="timeline">
      {[...props.events].reverse().map((event) => {
        const view = props.instances?.find((each) => each.id === event.instance_id);
        return (
          <li key={event.seq}>
            <div>
              <div className="row apart" style={{ gap: "0 12px" }}>
                <span>
                  {view && <><Link to={`/instances/${view.id}`}>{view.name}</Link> · </>}
                  {wordFor(say, "event", event.kind)}
                </span>
                <span className="soft small"><Moment at={event.at} /></span>
              </div>
              <div className="soft small wrap-anywhere">{whoAndWhy(say, event)}</div>
            </div>
          </li>
        );
      })}
    </ol>
  );
}
