// Reading server-sent events by fetch: EventSource can send no headers. Fed in pieces as they
// come; a piece may end anywhere, also within a character.

export interface StreamEvent {
  id: string;
  kind: string;
  data: string;
}

export class EventParser {
  private readonly decoder = new TextDecoder();
  private rest = "";
  private id = "";
  private kind = "";
  private data: string[] = [];

  feed(piece: Uint8Array): StreamEvent[] {
    const lines = (this.rest + this.decoder.decode(piece, { stream: true })).split("\n");
    this.rest = lines.pop()!;
    return lines.flatMap((line) => this.take(line.replace(/\r$/, "")) ?? []);
  }

  private take(line: string): StreamEvent | undefined {
    if (line === "") return this.finish();
    const colon = line.indexOf(":");
    if (colon === 0) return undefined; // a comment: the server is alive
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "id") this.id = value;
    if (field === "event") this.kind = value;
    if (field === "data") this.data.push(value);
    return undefined;
  }

  private finish(): StreamEvent | undefined {
    const event = this.data.length ? { id: this.id, kind: this.kind, data: this.data.join("\n") } : undefined;
    this.kind = "";
    this.data = [];
    return event;
  }
}

/** How long to wait before the nth try in a row, in ms: 1 s doubling to 30 s, spread by a fifth. */
export function backoffMs(failures: number, random: number): number {
  const base = Math.min(30_000, 1000 * 2 ** Math.max(0, failures - 1));
  return Math.round(base * (0.8 + 0.4 * random));
}
