// The event stream of this tab: keeps it open for as long as the tab is logged in, resumes after
// the last event that it saw, and tells what came. After sleep, or offline time, it asks for all
// anew, since a stream that is dead can look alive.
import { session } from "../session/session";
import { sessionHeaders } from "./client";
import { backoffMs, EventParser } from "./stream";
import type { EventView } from "./types";

export interface LiveHandlers {
  onEvent(event: EventView): void;
  onGap(): void; // something may have been missed: look at everything again
  onState(connected: boolean): void;
}

// The server says something at least every 15 s.
const SILENCE_MS = 40_000;
const AWAY_MS = 30_000;

export class LiveStream {
  private lastId = "";
  private failures = 0;
  private closed = false;
  private cut: AbortController | undefined;
  private wake: (() => void) | undefined;
  private hiddenAt = 0;

  constructor(private readonly handlers: LiveHandlers) {
    document.addEventListener("visibilitychange", this.onVisibility);
    window.addEventListener("online", this.onOnline);
    window.addEventListener("offline", this.onOffline);
    void this.run();
  }

  close(): void {
    this.closed = true;
    document.removeEventListener("visibilitychange", this.onVisibility);
    window.removeEventListener("online", this.onOnline);
    window.removeEventListener("offline", this.onOffline);
    this.restart();
  }

  private onVisibility = () => {
    if (document.visibilityState === "hidden") {
      this.hiddenAt = Date.now();
    } else if (Date.now() - this.hiddenAt > AWAY_MS) {
      this.onOnline();
    }
  };

  private onOffline = () => this.cut?.abort();

  private onOnline = () => {
    this.failures = 0;
    this.handlers.onGap();
    this.restart();
  };

  private restart(): void {
    this.cut?.abort();
    this.wake?.();
  }

  private async run(): Promise<void> {
    let opened = 0;
    while (!this.closed) {
      try {
        await this.read(() => {
          // Events between two connections come by Last-Event-ID; without one, look again.
          if (opened++ > 0 && !this.lastId) this.handlers.onGap();
        });
      } catch {
        // Lost, refused or silent: all the same, it is tried again.
      }
      this.handlers.onState(false);
      if (!this.closed) await this.pause(backoffMs(++this.failures, Math.random()));
    }
  }

  private async read(onOpen: () => void): Promise<void> {
    const cut = new AbortController();
    this.cut = cut;
    const secret = session().headerSecret();
    const response = await fetch("/api/v1/events", {
      headers: { ...sessionHeaders(secret), ...(this.lastId ? { "Last-Event-ID": this.lastId } : {}) },
      signal: cut.signal,
      cache: "no-store",
    });
    if (response.status === 401) session().refused(secret);
    if (!response.ok || !response.body) throw new Error(`HTTP ${response.status}`);
    this.failures = 0;
    this.handlers.onState(true);
    onOpen();
    await this.consume(response.body.getReader(), cut);
  }

  private async consume(reader: ReadableStreamDefaultReader<Uint8Array>, cut: AbortController): Promise<void> {
    const parser = new EventParser();
    let silence: ReturnType<typeof setTimeout> | undefined;
    try {
      for (;;) {
        clearTimeout(silence);
        silence = setTimeout(() => cut.abort(), SILENCE_MS);
        const { done, value } = await reader.read();
        if (done) return;
        for (const event of parser.feed(value)) {
          if (event.id) this.lastId = event.id;
          this.handlers.onEvent(JSON.parse(event.data) as EventView);
        }
      }
    } finally {
      clearTimeout(silence);
    }
  }

  private pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
