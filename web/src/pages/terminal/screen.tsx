// One terminal on the page: xterm.js above a TerminalLink.
import { FitAddon } from "@xterm/addon-fit";
import { Terminal } from "@xterm/xterm";
import "@xterm/xterm/css/xterm.css";
import { useEffect, useRef } from "react";
import { answer, api } from "../../api/client";
import { useSay } from "../../i18n";
import { TerminalLink, type LinkState, type Refusal } from "./link";

const COLOURS = {
  background: "#11161b",
  foreground: "#dfe6ea",
  cursor: "#4fd1c1",
  selectionBackground: "#2f5d58",
};

function openSocket(path: string): WebSocket {
  const url = new URL(path, window.location.href);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  return new WebSocket(url, "cardhour.terminal.v1");
}

const world = {
  ticket: async () => (await answer(api.POST("/api/v1/auth/tickets"))).ticket,
  open: openSocket,
  after: (ms: number, what: () => void) => {
    const timer = setTimeout(what, ms);
    return () => clearTimeout(timer);
  },
  random: Math.random,
};

export interface Outcome {
  exit?: { code: number | null; reason: string };
  refused?: Refusal;
}

export function Screen(props: {
  instance: string;
  isShown: boolean;
  isClosing: boolean;
  onState(state: LinkState): void;
  onOutcome(outcome: Outcome): void;
}) {
  const say = useSay();
  const place = useRef<HTMLDivElement>(null);
  const parts = useRef<{ terminal: Terminal; fit: FitAddon; link: TerminalLink }>(undefined);
  const handlers = useRef(props);
  handlers.current = props;

  useEffect(() => {
    const terminal = new Terminal({
      fontFamily: getComputedStyle(document.documentElement).getPropertyValue("--mono"),
      fontSize: 14,
      scrollback: 5000,
      cursorBlink: true,
      theme: COLOURS,
      screenReaderMode: false,
    });
    const fit = new FitAddon();
    terminal.loadAddon(fit);
    terminal.open(place.current!);
    fit.fit();
    const encoder = new TextEncoder();
    const link = new TerminalLink(props.instance, world, {
      onOutput: (bytes) => terminal.write(bytes),
      onState: (state) => handlers.current.onState(state),
      onExit: (code, reason) => handlers.current.onOutcome({ exit: { code, reason } }),
      onRefused: (refused) => handlers.current.onOutcome({ refused }),
    });
    terminal.onData((text) => link.send(encoder.encode(text)));
    terminal.onBinary((text) => link.send(Uint8Array.from(text, (letter) => letter.charCodeAt(0))));
    terminal.onResize(({ cols, rows }) => link.resize(cols, rows));
    link.connect(terminal.cols, terminal.rows);
    const observer = new ResizeObserver(() => {
      if (place.current?.clientHeight) fit.fit();
    });
    observer.observe(place.current!);
    parts.current = { terminal, fit, link };
    return () => {
      observer.disconnect();
      link.detach();
      terminal.dispose();
    };
  }, [props.instance]);

  useEffect(() => {
    if (props.isClosing) parts.current?.link.close();
  }, [props.isClosing]);

  useEffect(() => {
    if (!props.isShown) return;
    parts.current?.fit.fit();
    parts.current?.terminal.focus();
  }, [props.isShown]);

  return (
    <div className="terminal-box" hidden={!props.isShown} role="group" aria-label={say("terminal.label")}>
      <div ref={place} />
    </div>
  );
}
