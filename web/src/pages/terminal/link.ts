// One web terminal's connection, without a screen: sends keystrokes, counts what came, and takes
// the same shell up again after a lost connection, from the byte where it broke off.
import { backoffMs } from "../../api/stream";

export type LinkState = "connecting" | "open" | "lost" | "ended";
export type Refusal = "session" | "gone" | "stopped" | "many" | "replaced";

export interface LinkHandlers {
  onOutput(bytes: Uint8Array): void;
  onState(state: LinkState): void;
  onExit(code: number | null, reason: string): void;
  onRefused(why: Refusal): void;
}

/** What the link needs of the world; a test gives its own. */
export interface LinkWorld {
  ticket(): Promise<string>;
  open(url: string): WebSocket;
  after(ms: number, what: () => void): () => void; // answers how to call it off
  random(): number;
}

// The server takes frames up to 64 KiB.
const FRAME_BYTES = 32 * 1024;
// A paste waits here while the connection is slow or away; beyond this it is a mistake.
const QUEUE_BYTES_MAX = 8 * 1024 * 1024;
const REFUSALS: Record<number, Refusal> = { 4401: "session", 4404: "gone", 4409: "stopped", 4410: "replaced", 1013: "many" };

export class TerminalLink {
  private socket: WebSocket | undefined;
  private terminal = "";
  private offset = 0; // of the byte that comes next
  private attached = false;
  private ended = false;
  private failures = 0;
  private queue: Uint8Array[] = [];
  private queued = 0;
  private size = { cols: 80, rows: 24 };
  private callOff: (() => void) | undefined;

  constructor(
    private readonly instance: string,
    private readonly world: LinkWorld,
    private readonly handlers: LinkHandlers,
  ) {}

  connect(cols: number, rows: number): void {
    this.size = { cols, rows };
    void this.dial();
  }

  /** Keystrokes or a paste, whole and in order, also what is typed while the connection is lost. */
  send(bytes: Uint8Array): void {
    if (this.ended || this.queued + bytes.length > QUEUE_BYTES_MAX) return;
    for (let at = 0; at < bytes.length; at += FRAME_BYTES) this.queue.push(bytes.slice(at, at + FRAME_BYTES));
    this.queued += bytes.length;
    this.flush();
  }

  resize(cols: number, rows: number): void {
    this.size = { cols, rows };
    if (this.attached) this.say({ type: "resize", cols, rows });
  }

  /** Ends the shell. */
  close(): void {
    if (this.attached) this.say({ type: "close" });
    this.finish();
  }

  /** Leaves the shell running: it can be taken up again for some minutes. */
  detach(): void {
    this.finish();
  }

  private async dial(): Promise<void> {
    this.handlers.onState(this.failures ? "lost" : "connecting");
    let ticket: string;
    try {
      ticket = await this.world.ticket();
    } catch {
      return this.retry();
    }
    if (this.ended) return;
    const words = new URLSearchParams({ ticket, cols: String(this.size.cols), rows: String(this.size.rows) });
    if (this.terminal) {
      words.set("terminal", this.terminal);
      words.set("from", String(this.offset));
    }
    const socket = this.world.open(`/api/v1/instances/${encodeURIComponent(this.instance)}/terminal?${words}`);
    socket.binaryType = "arraybuffer";
    socket.onmessage = (event) => this.hear(event.data as string | ArrayBuffer);
    socket.onclose = (event) => this.hangUp(socket, event.code);
    this.socket = socket;
  }

  private hear(data: string | ArrayBuffer): void {
    if (typeof data !== "string") {
      this.offset += data.byteLength;
      this.handlers.onOutput(new Uint8Array(data));
      return;
    }
    const message = JSON.parse(data) as
      | { type: "attached"; terminal: string; offset: number }
      | { type: "exit"; code: number | null; reason: string };
    if (message.type === "attached") {
      this.terminal = message.terminal;
      this.offset = message.offset;
      this.attached = true;
      this.failures = 0;
      this.handlers.onState("open");
      this.say({ type: "resize", ...this.size });
      this.flush();
    } else if (message.type === "exit") {
      this.handlers.onExit(message.code, message.reason);
      this.finish();
    }
  }

  private hangUp(socket: WebSocket, code: number): void {
    if (socket !== this.socket || this.ended) return;
    const why = REFUSALS[code];
    if (why) {
      this.handlers.onRefused(why);
      this.finish();
      return;
    }
    this.retry();
  }

  private retry(): void {
    this.attached = false;
    if (this.ended) return;
    this.handlers.onState("lost");
    this.callOff = this.world.after(backoffMs(++this.failures, this.world.random()), () => void this.dial());
  }

  private finish(): void {
    if (this.ended) return;
    this.ended = true;
    this.attached = false;
    this.callOff?.();
    this.socket?.close(1000);
    this.handlers.onState("ended");
  }

  private say(message: object): void {
    this.socket?.send(JSON.stringify(message));
  }

  private flush(): void {
    while (this.attached && this.queue.length) {
      const frame = this.queue.shift()!;
      this.queued -= frame.length;
      this.socket!.send(frame as Uint8Array<ArrayBuffer>);
    }
  }
}
