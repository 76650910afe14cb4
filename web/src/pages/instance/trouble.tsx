// What is wrong with an instance, or ahead of it, and what to do.
import { Alert } from "antd";
import type { EventView, InstanceView } from "../../api/types";
import { reasonText, wordFor } from "../../components/words";
import { Moment } from "../../components/basics";
import { whoAndWhy } from "../../components/history";
import { Countdown } from "../../components/span";
import { useSay } from "../../i18n";
import { formatMoment } from "../../lib/time";

export function Trouble({ view, events }: { view: InstanceView; events: EventView[] | undefined }) {
  const say = useSay();
  const { fault, notice } = view;
  return (
    <div className="stack tight">
      {fault && <Alert type="error" showIcon role="alert" message={fault.what} description={fault.next} />}
      {!view.reachable && (
        <Alert type="warning" showIcon message={say("instance.silent.title")} description={say("instance.silent.text")} />
      )}
      {notice && (
        <Alert
          type="warning"
          showIcon
          role="alert"
          message={
            notice.deadline ? <>{say("instance.notice.title")} <Countdown to={Date.parse(notice.deadline)} /></> : say("instance.notice.soon")
          }
          description={
            notice.reason === "arrears"
              ? say("instance.notice.arrears")
              : say("instance.notice.other", { reason: reasonText(say, notice.reason) })
          }
        />
      )}
      {view.observed === "in_bin" && (
        <Alert
          type="info"
          showIcon
          message={say("instance.bin.title")}
          description={view.bin_until && say("instance.bin.text", { until: formatMoment(view.bin_until) })}
        />
      )}
      {view.observed === "purged" && (
        <Alert type="info" showIcon message={say("instance.purged.title")} description={say("instance.purged.text")} />
      )}
      <LastReason view={view} events={events} />
    </div>
  );
}

/** Why it is in the state it is in: the last thing that happened to it. */
function LastReason({ view, events }: { view: InstanceView; events: EventView[] | undefined }) {
  const say = useSay();
  const last = events?.filter((event) => event.kind.startsWith("instance.") && event.kind !== "instance.renamed").at(-1);
  if (!last || view.observed === "purged") return null;
  return (
    <p className="soft">
      {say("instance.reason", { what: wordFor(say, "event", last.kind), why: whoAndWhy(say, last) })} · <Moment at={last.at} />
    </p>
  );
}
