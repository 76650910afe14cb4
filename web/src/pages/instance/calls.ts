// The acts on one instance, as requests.
import { answer, api, withKey } from "../../api/client";
import type { StartRequest } from "../../api/types";

const at = (id: string) => ({ params: { path: { id } } });

export const instanceCalls = {
  start: (id: string, request: StartRequest) =>
    withKey(["start", id, request], (key) =>
      answer(
        api.POST("/api/v1/instances/{id}/start", {
          params: { path: { id }, header: { "Idempotency-Key": key } },
          body: request,
        }),
      ),
    ),
  stop: (id: string) => answer(api.POST("/api/v1/instances/{id}/stop", at(id))),
  restart: (id: string) => answer(api.POST("/api/v1/instances/{id}/restart", at(id))),
  restore: (id: string) => answer(api.POST("/api/v1/instances/{id}/restore", at(id))),
  release: (id: string) => answer(api.POST("/api/v1/instances/{id}/release", { ...at(id), body: {} })),
  purge: (id: string, name: string) =>
    answer(api.POST("/api/v1/instances/{id}/release", { ...at(id), body: { purge: true, confirm_name: name } })),
  rename: (id: string, name: string) => answer(api.PATCH("/api/v1/instances/{id}", { ...at(id), body: { name } })),
};
