// What a run is on: "2 × RTX 4090", or no card.
import { useQuery } from "@tanstack/react-query";
import { queries } from "../api/queries";
import type { InstanceView } from "../api/types";
import { useSay } from "../i18n";

/** A model by the name people know. */
export function useModelName(): (key: string) => string {
  const models = useQuery(queries.gpuModels()).data;
  return (key) => models?.find((model) => model.key === key)?.name ?? key;
}

export function Shape({ view }: { view: Pick<InstanceView, "mode" | "gpu_model" | "gpu_count"> }) {
  const say = useSay();
  const nameOf = useModelName();
  if (view.mode === "no_gpu") return <>{say("instance.no_gpu")}</>;
  return <span className="nowrap">{say("instance.shape", { count: view.gpu_count, model: nameOf(view.gpu_model) })}</span>;
}
