// Changing something on the server: the outcome is put where the pages look, and a problem is
// shown with what to do.
import { useMutation, useQueryClient, type QueryKey } from "@tanstack/react-query";
import { App } from "antd";
import { useSay } from "../i18n";
import { Problem } from "./problem";
import type { InstanceView } from "./types";

interface Options<Result> {
  refresh?: QueryKey[];
  onDone?(result: Result): void;
  showsProblemItself?: boolean; // the form shows it beside its fields
}

export function useAct<Input, Result>(run: (input: Input) => Promise<Result>, options: Options<Result> = {}) {
  const cache = useQueryClient();
  const { notification } = App.useApp();
  const say = useSay();
  return useMutation({
    mutationFn: run,
    onSuccess: (result) => {
      for (const queryKey of options.refresh ?? []) void cache.invalidateQueries({ queryKey });
      options.onDone?.(result);
    },
    onError: (error) => {
      if (options.showsProblemItself) return;
      const problem = error instanceof Problem ? error : undefined;
      notification.error({
        message: problem?.detail ?? say("problem.title"),
        description: problem?.next ?? (problem ? undefined : String(error)),
        duration: 10,
      });
    },
  });
}

/** An act on an instance: its answer is the instance as it is then. */
export function useInstanceAct<Input>(
  run: (input: Input) => Promise<InstanceView>,
  options: Options<InstanceView> = {},
) {
  const cache = useQueryClient();
  return useAct(run, {
    ...options,
    refresh: [["instances"], ["wallet"], ["offers"], ["events"], ["quote"], ...(options.refresh ?? [])],
    onDone: (view) => {
      cache.setQueryData(["instance", view.id], view);
      void cache.invalidateQueries({ queryKey: ["instance", view.id] });
      options.onDone?.(view);
    },
  });
}
