// The browser's session: two secrets, worthless one without the other. The server keeps one in a
// cookie that no script can read; the other is here, in this tab's sessionStorage, and goes along
// as a header. A new tab asks the open ones for it over a BroadcastChannel (same origin only).

export type SessionState = "restoring" | "in" | "out";

interface Message {
  kind: "ask" | "here" | "ended";
  secret?: string;
}

const KEY = "cardhour.session";
const OTHER_TABS_ANSWER_MS = 300;

export class Session {
  private secret: string | null;
  private state: SessionState;
  private readonly listeners = new Set<() => void>();

  constructor(
    private readonly storage: Storage,
    private readonly channel: BroadcastChannel,
  ) {
    this.secret = storage.getItem(KEY);
    this.state = this.secret ? "in" : "restoring";
    channel.onmessage = (event: MessageEvent<Message>) => this.hear(event.data);
    if (!this.secret) this.askOtherTabs();
  }

  current = (): SessionState => this.state;
  headerSecret = (): string | null => this.secret;

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** After a login here: other tabs take it over, since the cookie is now this login's. */
  begin(secret: string): void {
    this.keep(secret);
    this.say({ kind: "here", secret });
  }

  /** After a logout here. */
  end(): void {
    this.drop();
    this.say({ kind: "ended" });
  }

  /** The server did not know `usedSecret`. True: another is here by now, worth a second try. */
  refused(usedSecret: string | null): boolean {
    if (this.secret && this.secret !== usedSecret) return true;
    this.drop();
    return false;
  }

  private askOtherTabs(): void {
    this.say({ kind: "ask" });
    setTimeout(() => {
      if (this.state === "restoring") this.become("out");
    }, OTHER_TABS_ANSWER_MS);
  }

  private hear(message: Message): void {
    if (message.kind === "ask" && this.secret) this.say({ kind: "here", secret: this.secret });
    if (message.kind === "here" && message.secret && message.secret !== this.secret) this.keep(message.secret);
    if (message.kind === "ended") this.drop();
  }

  private say(message: Message): void {
    this.channel.postMessage(message);
  }

  private keep(secret: string): void {
    this.secret = secret;
    this.storage.setItem(KEY, secret);
    this.become("in");
  }

  private drop(): void {
    this.secret = null;
    this.storage.removeItem(KEY);
    this.become("out");
  }

  private become(state: SessionState): void {
    this.state = state;
    for (const listener of this.listeners) listener();
  }
}

let only: Session | undefined;

/** The one of this tab. */
export function session(): Session {
  only ??= new Session(window.sessionStorage, new BroadcastChannel("cardhour.session"));
  return only;
}
