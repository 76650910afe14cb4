// What is asked of the server, and under which name it is kept. Everything is refreshed by the
// event stream (refresh_by_event.ts); only what grows with time alone is asked again by itself.
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, answer } from "./client";
import type {
  CardsRequest, CostRequest, OwnRequest, RentRequest, StartRequest, TimeRequest, VramRequest,
} from "./types";

const MONEY_REFRESH_MS = 20_000;
const OPERATOR_REFRESH_MS = 5_000; // the stream carries one's own events only
const PAGE_MAX = 100;

/** All pages of a list, which the pages of the console show whole. */
async function everything<T>(page: (after?: string) => Promise<{ items: T[]; next?: string }>): Promise<T[]> {
  const items: T[] = [];
  let after: string | undefined;
  do {
    const answered = await page(after);
    items.push(...answered.items);
    after = answered.next;
  } while (after);
  return items;
}

/** An estimate follows its form; the one before stays until the new one is there. */
function estimate<View>(topic: string, request: unknown, ask: (signal: AbortSignal) => Promise<View>) {
  return queryOptions({
    queryKey: ["estimate", topic, request],
    queryFn: ({ signal }) => ask(signal),
    placeholderData: keepPreviousData,
    retry: false,
  });
}

export const queries = {
  me: () => queryOptions({ queryKey: ["me"], queryFn: () => answer(api.GET("/api/v1/me")), staleTime: Infinity }),

  version: () =>
    queryOptions({ queryKey: ["version"], queryFn: () => answer(api.GET("/api/v1/version")), staleTime: Infinity }),

  wallet: () =>
    queryOptions({
      queryKey: ["wallet"],
      queryFn: () => answer(api.GET("/api/v1/wallet")),
      refetchInterval: MONEY_REFRESH_MS,
    }),

  offers: () =>
    queryOptions({
      queryKey: ["offers"],
      queryFn: async () => (await answer(api.GET("/api/v1/offers"))).items,
      refetchInterval: MONEY_REFRESH_MS, // what others rent is not in one's own events
    }),

  images: () =>
    queryOptions({
      queryKey: ["images"],
      queryFn: async () => (await answer(api.GET("/api/v1/images"))).items,
    }),

  gpuModels: () =>
    queryOptions({
      queryKey: ["gpu-models"],
      queryFn: async () => (await answer(api.GET("/api/v1/gpu-models"))).items,
      staleTime: Infinity,
    }),

  quote: (request: RentRequest) =>
    queryOptions({
      queryKey: ["quote", request],
      queryFn: ({ signal }) => answer(api.POST("/api/v1/instances/quote", { body: request, signal })),
      placeholderData: keepPreviousData,
      refetchInterval: MONEY_REFRESH_MS,
      retry: false,
    }),

  startQuote: (id: string, request: StartRequest) =>
    queryOptions({
      queryKey: ["quote", id, request],
      queryFn: ({ signal }) =>
        answer(api.POST("/api/v1/instances/{id}/start-quote", { params: { path: { id } }, body: request, signal })),
      placeholderData: keepPreviousData,
      retry: false,
    }),

  instances: (withGone = false) =>
    queryOptions({
      queryKey: ["instances", { withGone }],
      queryFn: () =>
        everything((after) =>
          answer(
            api.GET("/api/v1/instances", {
              params: { query: { after, limit: String(PAGE_MAX), with_purged: String(withGone) } },
            }),
          ),
        ),
    }),

  instance: (id: string) =>
    queryOptions({
      queryKey: ["instance", id],
      queryFn: () => answer(api.GET("/api/v1/instances/{id}", { params: { path: { id } } })),
      // The phase of a transition is not an event: it is looked at while there is one.
      refetchInterval: (query) => (query.state.data?.settled === false ? 1_000 : MONEY_REFRESH_MS),
    }),

  instanceEvents: (id: string) =>
    queryOptions({
      queryKey: ["instance", id, "events"],
      queryFn: async () =>
        (
          await answer(
            api.GET("/api/v1/instances/{id}/events", {
              params: { path: { id }, query: { limit: String(PAGE_MAX) } },
            }),
          )
        ).items,
    }),

  events: () =>
    queryOptions({
      queryKey: ["events"],
      queryFn: async () =>
        (await answer(api.GET("/api/v1/events/latest", { params: { query: { limit: "30" } } }))).items,
    }),

  statement: (query: { from?: string; to?: string; instance?: string; explain?: boolean }) =>
    queryOptions({
      queryKey: ["statement", query],
      queryFn: () =>
        answer(
          api.GET("/api/v1/statements", {
            params: {
              query: { from: query.from, to: query.to, instance: query.instance, explain: query.explain ? "true" : undefined },
            },
          }),
        ),
      placeholderData: keepPreviousData,
    }),

  modelPresets: () =>
    queryOptions({
      queryKey: ["model-presets"],
      queryFn: async () => (await answer(api.GET("/api/v1/estimates/presets"))).items,
      staleTime: Infinity,
    }),

  vramEstimate: (body: VramRequest) =>
    estimate("vram", body, (signal) => answer(api.POST("/api/v1/estimates/vram", { body, signal }))),
  cardsEstimate: (body: CardsRequest) =>
    estimate("cards", body, (signal) => answer(api.POST("/api/v1/estimates/cards", { body, signal }))),
  timeEstimate: (body: TimeRequest) =>
    estimate("time", body, (signal) => answer(api.POST("/api/v1/estimates/time", { body, signal }))),
  costEstimate: (body: CostRequest) =>
    estimate("cost", body, (signal) => answer(api.POST("/api/v1/estimates/cost", { body, signal }))),
  ownEstimate: (body: OwnRequest) =>
    estimate("own", body, (signal) => answer(api.POST("/api/v1/estimates/own", { body, signal }))),

  sshKeys: () =>
    queryOptions({
      queryKey: ["ssh-keys"],
      queryFn: async () => (await answer(api.GET("/api/v1/ssh-keys"))).items,
    }),

  tokens: () =>
    queryOptions({
      queryKey: ["tokens"],
      queryFn: async () => (await answer(api.GET("/api/v1/tokens"))).items,
    }),

  prices: () =>
    queryOptions({
      queryKey: ["prices"],
      queryFn: async () => (await answer(api.GET("/api/v1/prices"))).items,
    }),

  operatorHosts: () =>
    queryOptions({
      queryKey: ["operator", "hosts"],
      queryFn: async () => (await answer(api.GET("/api/v1/admin/hosts"))).items,
      refetchInterval: OPERATOR_REFRESH_MS,
    }),

  operatorCards: () =>
    queryOptions({
      queryKey: ["operator", "cards"],
      queryFn: async () => (await answer(api.GET("/api/v1/admin/cards"))).items,
      refetchInterval: OPERATOR_REFRESH_MS,
    }),

  operatorInstances: () =>
    queryOptions({
      queryKey: ["operator", "instances"],
      queryFn: () =>
        everything((after) =>
          answer(api.GET("/api/v1/admin/instances", { params: { query: { after, limit: String(PAGE_MAX) } } })),
        ),
      refetchInterval: OPERATOR_REFRESH_MS,
    }),

  operatorAccounts: () =>
    queryOptions({
      queryKey: ["operator", "accounts"],
      queryFn: () =>
        everything((after) =>
          answer(api.GET("/api/v1/admin/accounts", { params: { query: { after, limit: String(PAGE_MAX) } } })),
        ),
      refetchInterval: MONEY_REFRESH_MS,
    }),
};
