// What can be done with an instance in its state. The server decides; this only keeps buttons away
// that it would refuse.
import type { InstanceView } from "../../api/types";

export type Act = "start" | "start_no_gpu" | "add_cards" | "stop" | "restart" | "rename" | "release" | "restore" | "purge";

export function possible(view: Pick<InstanceView, "observed" | "desired" | "mode" | "settled">): Act[] {
  switch (view.observed) {
    case "creating":
    case "starting":
      return ["stop", "rename", "release"];
    case "running": {
      const acts: Act[] = ["stop", "rename", "release"];
      if (view.settled) acts.push("restart");
      if (view.settled && view.mode === "no_gpu") acts.push("add_cards");
      return acts;
    }
    case "stopping":
      return view.desired === "released" ? ["restore"] : ["rename", "release"];
    case "stopped":
      return ["start", "start_no_gpu", "rename", "release"];
    case "releasing":
      return ["restore"];
    case "in_bin":
      return view.desired === "purged" ? [] : ["restore", "purge"];
    case "purged":
      return [];
  }
}
