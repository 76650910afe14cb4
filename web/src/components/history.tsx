// Events, newest first: what, when, by whom and why.
import { Link } from "react-router-dom";
import type { EventView, InstanceView } from "../api/types";
import { useSay } from "../i18n";
import { Moment } from "./basics";
import { reasonText, wordFor } from "./words";

/** "system:observe" is Cardhour itself. */
function actorText(actor: string, brand: string): string {
  return actor.startsWith("system:") ? brand : actor;
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
              <div className="soft small wrap-anywhere">
                {say("history.by", { actor: actorText(event.actor, say("brand")), reason: reasonText(say, event.reason) })}
              </div>
            </div>
          </li>
        );
      })}
    </ol>
  );
}
