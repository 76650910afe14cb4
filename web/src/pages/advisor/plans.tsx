// Ways to do the work: what is here first, then by cost.
import { useState } from "react";
import { Button } from "antd";
import type { PlanView } from "../../api/types";
import { Balance, PerHour } from "../../components/amount";
import { Badge, Panel } from "../../components/basics";
import { DataTable } from "../../components/data_table";
import { spanText } from "../../components/span";
import { useSay } from "../../i18n";
import { hereFirst, RentLink, shapeText, useIsHere } from "./answer";

const SHOWN = 8;

export function Plans({ plans }: { plans: PlanView[] }) {
  const say = useSay();
  const isHere = useIsHere();
  const [isWhole, setWhole] = useState(false);
  if (!plans.length) return null;
  return (
    <Panel flush title={say("advisor.plans")}>
      <DataTable
        label={say("advisor.plans")}
        rows={hereFirst(plans, isHere).slice(0, isWhole ? plans.length : SHOWN)}
        rowKey={(plan) => `${plan.gpu_model} ${plan.cards}`}
        columns={[
          { name: say("advisor.card"), lead: true, value: (plan) => <span className="strong">{shapeText(plan.cards, plan.gpu_name)}</span> },
          {
            name: say("advisor.plan.time"),
            value: (plan) => (
              <>
                {spanText(say, plan.run_ms)}
                {!plan.meets_deadline && <> <Badge tone="warn">{say("advisor.plan.late")}</Badge></>}
              </>
            ),
          },
          { name: say("advisor.price"), end: true, value: (plan) => <PerHour value={plan.rate_per_hour} /> },
          { name: say("advisor.plan.cost"), end: true, value: (plan) => <span className="strong"><Balance value={plan.cost} /></span> },
          {
            name: say("advisor.rent"),
            unnamed: true,
            end: true,
            value: (plan) => <RentLink model={plan.gpu_model} name={plan.gpu_name} cards={plan.cards} />,
          },
        ]}
      />
      {!isWhole && plans.length > SHOWN && (
        <div style={{ padding: 12, textAlign: "center" }}>
          <Button size="small" onClick={() => setWhole(true)}>{say("advisor.more", { count: plans.length - SHOWN })}</Button>
        </div>
      )}
    </Panel>
  );
}
