// The way to the server. Calls are typed by api/openapi.json; what does not succeed is thrown as a
// Problem. Every request says the reader's language and carries the session's header secret.
import createClient from "openapi-fetch";
import { language } from "../i18n";
import { say } from "../i18n/say";
import { noteServerDate } from "../lib/time";
import { session } from "../session/session";
import { IdempotencyKeys, randomKey } from "./idempotency";
import { Problem, problemOf } from "./problem";
import type { paths } from "./schema";

const SESSION_HEADER = "Cardhour-Session";
const RETRY_AFTER_MS = [400, 1500];

/** What every request carries; also for the event stream, which is no JSON. */
export function sessionHeaders(secret: string | null): Record<string, string> {
  return { "Accept-Language": language(), ...(secret ? { [SESSION_HEADER]: secret } : {}) };
}

async function once(request: Request): Promise<Response> {
  const secret = session().headerSecret();
  const sent = new Request(request.clone());
  for (const [name, value] of Object.entries(sessionHeaders(secret))) sent.headers.set(name, value);
  const response = await fetch(sent);
  noteServerDate(response.headers.get("Date"));
  const isLogin = new URL(request.url).pathname.startsWith("/api/v1/auth/");
  if (response.status === 401 && !isLogin && session().refused(secret)) return once(request);
  return response;
}

async function fetchWithRetries(request: Request): Promise<Response> {
  // A request with a key has its effect once, so it may be sent again; reads are by the cache.
  const pauses = request.headers.has("Idempotency-Key") ? [...RETRY_AFTER_MS] : [];
  for (;;) {
    try {
      const response = await once(request);
      const pause = response.status === 503 ? pauses.shift() : undefined;
      if (pause === undefined) return response;
      await new Promise((resolve) => setTimeout(resolve, pause));
    } catch (error) {
      if (request.signal.aborted) throw error;
      const pause = pauses.shift();
      if (pause === undefined) throw new Problem("offline", say("problem.offline"), say("problem.offline.next"));
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
}

export const api = createClient<paths>({ fetch: fetchWithRetries });

/** The body of a success; throws the Problem otherwise. */
export async function answer<T>(
  call: Promise<{ data?: T; error?: unknown; response: Response }>,
): Promise<T> {
  const { data, error, response } = await call;
  if (!response.ok) throw problemOf(response.status, error);
  return data as T;
}

let keys: IdempotencyKeys | undefined;

/** Runs a request that creates or pays; `what` names it, with everything that is in it. */
export async function withKey<T>(what: unknown, call: (key: string) => Promise<T>): Promise<T> {
  keys ??= new IdempotencyKeys(window.sessionStorage, randomKey);
  const request = JSON.stringify(what);
  try {
    const result = await call(keys.keyFor(request));
    keys.settled(request);
    return result;
  } catch (error) {
    if (!(error instanceof Problem && error.isPassing)) keys.settled(request);
    throw error;
  }
}
