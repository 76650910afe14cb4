// What can be done, each with a dialog that says what ends and what goes on costing.
import { Button, Dropdown } from "antd";
import { useState } from "react";
import { useInstanceAct } from "../../api/act";
import type { InstanceView } from "../../api/types";
import { useSay } from "../../i18n";
import { instanceCalls } from "./calls";
import { PurgeDialog, ReleaseDialog, RenameDialog, RestartDialog, StopDialog } from "./dialogs";
import { possible, type Act } from "./possible";
import { StartDialog } from "./start_dialog";

// At most these stand beside the name; the others are under "More".
const IN_FRONT: Act[] = ["start", "add_cards", "stop", "restore"];

export function Actions({ view }: { view: InstanceView }) {
  const say = useSay();
  const [open, setOpen] = useState<Act>();
  const restore = useInstanceAct(() => instanceCalls.restore(view.id));
  const acts = possible(view);
  const more = acts.filter((act) => !IN_FRONT.includes(act));
  const close = () => setOpen(undefined);
  const choose = (act: Act) => (act === "restore" ? restore.mutate(undefined) : setOpen(act));
  return (
    <>
      {IN_FRONT.filter((act) => acts.includes(act)).map((act) => (
        <Button key={act} type={act === "stop" ? "default" : "primary"} loading={act === "restore" && restore.isPending} onClick={() => choose(act)}>
          {say(`do.${act}`)}
        </Button>
      ))}
      {more.length > 0 && (
        <Dropdown
          trigger={["click"]}
          menu={{
            items: more.map((act) => ({ key: act, label: say(`do.${act}`), danger: act === "release" || act === "purge" })),
            onClick: ({ key }) => choose(key as Act),
          }}
        >
          <Button aria-haspopup="menu">{say("do.more")}</Button>
        </Dropdown>
      )}
      {open === "start" && <StartDialog view={view} mode="on_demand" onClose={close} />}
      {open === "add_cards" && <StartDialog view={view} mode="on_demand" onClose={close} />}
      {open === "start_no_gpu" && <StartDialog view={view} mode="no_gpu" onClose={close} />}
      {open === "stop" && <StopDialog view={view} onClose={close} />}
      {open === "restart" && <RestartDialog view={view} onClose={close} />}
      {open === "rename" && <RenameDialog view={view} onClose={close} />}
      {open === "release" && <ReleaseDialog view={view} onClose={close} />}
      {open === "purge" && <PurgeDialog view={view} onClose={close} />}
    </>
  );
}
