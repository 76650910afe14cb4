// A transition that is under way, phase by phase.
import { CheckOutlined, LoadingOutlined } from "@ant-design/icons";
import type { InstanceView } from "../../api/types";
import { Panel } from "../../components/basics";
import { wordFor } from "../../components/words";
import { useSay } from "../../i18n";

const TO_READY = ["boot", "await_ready", "verify"];
const TO_STOPPED = ["shut_down", "confirm"];

/** The phases that this transition goes through, as far as one can tell. */
function phasesOf(view: InstanceView): string[] {
  if (view.activity === "remove") return ["remove"];
  if (view.activity === "deliver") return ["deliver"];
  if (view.desired !== "running") return view.activity === "force" ? ["shut_down", "force", "confirm"] : TO_STOPPED;
  if (view.observed === "creating") return ["create", ...TO_READY];
  if (view.activity === "halt" || view.activity === "create") return ["halt", "create", ...TO_READY];
  return TO_READY;
}

export function Progress({ view }: { view: InstanceView }) {
  const say = useSay();
  const phases = phasesOf(view);
  const now = phases.indexOf(view.activity);
  return (
    <Panel title={say("instance.progress")}>
      <ol className="steps" aria-live="polite">
        {phases.map((phase, index) => (
          <li key={phase} className={index < now ? "done" : index === now ? "now" : undefined} aria-current={index === now ? "step" : undefined}>
            <span className="mark">{index < now ? <CheckOutlined aria-hidden /> : index === now ? <LoadingOutlined aria-hidden /> : "·"}</span>
            {wordFor(say, "phase", phase)}
          </li>
        ))}
      </ol>
      {view.waiting_for && <p style={{ marginTop: 10 }}>{say("instance.progress.waiting", { why: view.waiting_for })}</p>}
      <p className="soft small" style={{ marginTop: 10 }}>
        {view.desired === "running" && view.observed !== "running" && <>{say("instance.progress.free")} </>}
        {say("instance.progress.safe")}
      </p>
    </Panel>
  );
}
