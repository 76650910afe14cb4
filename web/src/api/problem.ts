// What went wrong, as the pages show it: what happened and what to do next, already in the
// reader's language. A problem document (RFC 9457) of the server, or a lost connection.
import type { ProblemView } from "./types";

export type ProblemCode = ProblemView["code"] | "offline" | "unreadable";

export class Problem extends Error {
  constructor(
    readonly code: ProblemCode,
    readonly detail: string,
    readonly next: string | undefined = undefined,
    readonly field: string | undefined = undefined,
    readonly status = 0,
  ) {
    super(detail);
  }

  /** May it go well if the same is sent again, without anything else changing? */
  get isPassing(): boolean {
    return this.code === "offline" || this.status === 429 || this.status >= 500;
  }
}

export function problemOf(status: number, body: unknown): Problem {
  const view = body as Partial<ProblemView> | null;
  if (!view || typeof view !== "object" || typeof view.detail !== "string" || !view.code) {
    return new Problem("unreadable", `HTTP ${status}`, undefined, undefined, status);
  }
  return new Problem(view.code, view.detail, view.next || undefined, view.field || undefined, status);
}
