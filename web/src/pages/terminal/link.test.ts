import { beforeEach, describe, expect, it } from "vitest";
import { TerminalLink, type LinkState } from "./link";

class FakeSocket {
  binaryType = "";
  sent: (string | Uint8Array)[] = [];
  closedWith: number | undefined;
  onmessage: ((event: { data: unknown }) => void) | undefined;
  onclose: ((event: { code: number }) => void) | undefined;
  constructor(readonly url: string) {}
  send(data: string | Uint8Array) {
    this.sent.push(data);
  }
  close(code?: number) {
    this.closedWith = code;
  }
  say(message: object) {
    this.onmessage?.({ data: JSON.stringify(message) });
  }
  output(text: string) {
    this.onmessage?.({ data: new TextEncoder().encode(text).buffer });
  }
  lose(code = 1006) {
    this.onclose?.({ code });
  }
  typed(): string {
    return this.sent.filter((each) => typeof each !== "string").map((each) => new TextDecoder().decode(each as Uint8Array)).join("");
  }
}

let sockets: FakeSocket[];
let pending: (() => void)[];
let states: LinkState[];
let output: string;
let ends: unknown[];
let tickets: number;

function make(): TerminalLink {
  return new TerminalLink("i1", {
    ticket: () => Promise.resolve(`t${++tickets}`),
    open: (url) => {
      const socket = new FakeSocket(url);
      sockets.push(socket);
      return socket as unknown as WebSocket;
    },
    after: (_, what) => {
      pending.push(what);
      return () => pending.splice(pending.indexOf(what), 1);
    },
    random: () => 0.5,
  }, {
    onOutput: (bytes) => (output += new TextDecoder().decode(bytes)),
    onState: (state) => states.push(state),
    onExit: (code, reason) => ends.push({ code, reason }),
    onRefused: (why) => ends.push(why),
  });
}

const settle = () => new Promise((resolve) => setTimeout(resolve));
const words = (socket: FakeSocket | undefined) => new URLSearchParams(socket!.url.split("?")[1]);
const bytes = (text: string) => new TextEncoder().encode(text);

beforeEach(() => {
  sockets = [];
  pending = [];
  states = [];
  output = "";
  ends = [];
  tickets = 0;
});

describe("a terminal's connection", () => {
  it("opens with a ticket and the size, and types only after it is attached", async () => {
    const link = make();
    link.connect(100, 30);
    link.send(bytes("ls\n"));
    await settle();
    expect(Object.fromEntries(words(sockets[0]))).toEqual({ ticket: "t1", cols: "100", rows: "30" });
    expect(sockets[0]!.typed()).toBe("");
    sockets[0]!.say({ type: "attached", terminal: "x", offset: 0 });
    expect(sockets[0]!.typed()).toBe("ls\n");
    expect(states.at(-1)).toBe("open");
  });

  it("takes the shell up again from the byte where it was lost, with a new ticket", async () => {
    const link = make();
    link.connect(80, 24);
    await settle();
    sockets[0]!.say({ type: "attached", terminal: "x", offset: 0 });
    sockets[0]!.output("héllo");
    sockets[0]!.lose();
    expect(states.at(-1)).toBe("lost");
    link.send(bytes("typed meanwhile"));
    pending.shift()!();
    await settle();
    expect(Object.fromEntries(words(sockets[1]))).toMatchObject({ ticket: "t2", terminal: "x", from: "6" });
    sockets[1]!.say({ type: "attached", terminal: "x", offset: 10 }); // the ring was cut
    sockets[1]!.output("!");
    sockets[1]!.lose();
    pending.shift()!();
    await settle();
    expect(words(sockets[2]).get("from")).toBe("11");
    expect(sockets[1]!.typed()).toBe("typed meanwhile");
    expect(output).toBe("héllo!");
  });

  it("splits a large paste into frames and loses nothing", async () => {
    const link = make();
    link.connect(80, 24);
    await settle();
    sockets[0]!.say({ type: "attached", terminal: "x", offset: 0 });
    const paste = "0123456789".repeat(100_000);
    link.send(bytes(paste));
    expect(sockets[0]!.typed()).toBe(paste);
    expect(Math.max(...sockets[0]!.sent.map((each) => each.length))).toBeLessThanOrEqual(64 * 1024);
  });

  it("tells the new size, and the present one at each attach", async () => {
    const link = make();
    link.connect(80, 24);
    await settle();
    link.resize(120, 40);
    sockets[0]!.say({ type: "attached", terminal: "x", offset: 0 });
    expect(sockets[0]!.sent).toEqual(['{"type":"resize","cols":120,"rows":40}']);
  });

  it("ends for good on exit or refusal, without another try", async () => {
    for (const [end, what] of [
      [(socket: FakeSocket) => socket.say({ type: "exit", code: 3, reason: "" }), { code: 3, reason: "" }],
      [(socket: FakeSocket) => socket.lose(4409), "stopped"],
      [(socket: FakeSocket) => socket.lose(4401), "session"],
      [(socket: FakeSocket) => socket.lose(1013), "many"],
    ] as const) {
      const link = make();
      link.connect(80, 24);
      await settle();
      const socket = sockets.at(-1)!;
      socket.say({ type: "attached", terminal: "x", offset: 0 });
      end(socket);
      expect(ends.at(-1)).toEqual(what);
      expect(states.at(-1)).toBe("ended");
      socket.lose();
      expect(pending).toEqual([]);
    }
  });

  it("asks the server to end the shell when closed, and only leaves when detached", async () => {
    for (const [act, said] of [["close", ['{"type":"close"}']], ["detach", []]] as const) {
      const link = make();
      link.connect(80, 24);
      await settle();
      const socket = sockets.at(-1)!;
      socket.say({ type: "attached", terminal: "x", offset: 0 });
      socket.sent = [];
      link[act]();
      expect(socket.sent).toEqual(said);
      expect(socket.closedWith).toBe(1000);
    }
  });
});
