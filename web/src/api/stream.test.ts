import { expect, it } from "vitest";
import { backoffMs, EventParser } from "./stream";

const bytes = (text: string) => new TextEncoder().encode(text);
const stream = 'retry: 2000\n\nid: 6\nevent: instance.creating\ndata: {"a":"创建"}\n\n:keep-alive\n\nid: 7\ndata: one\ndata: two\n\n';

it("finds the same events wherever the pieces end", () => {
  const whole = new EventParser().feed(bytes(stream));
  expect(whole).toEqual([
    { id: "6", kind: "instance.creating", data: '{"a":"创建"}' },
    { id: "7", kind: "", data: "one\ntwo" },
  ]);
  const all = bytes(stream);
  for (let size = 1; size < 9; size++) {
    const parser = new EventParser();
    const found = [];
    for (let at = 0; at < all.length; at += size) found.push(...parser.feed(all.slice(at, at + size)));
    expect(found).toEqual(whole);
  }
});

it("takes lines that end in CR LF, and keeps what is not whole", () => {
  const parser = new EventParser();
  expect(parser.feed(bytes("id: 1\r\ndata: x\r\n"))).toEqual([]);
  expect(parser.feed(bytes("\r\n"))).toEqual([{ id: "1", kind: "", data: "x" }]);
});

it("waits longer after each failure, never beyond half a minute and a fifth", () => {
  expect(backoffMs(1, 0.5)).toBe(1000);
  expect(backoffMs(4, 0.5)).toBe(8000);
  expect(backoffMs(40, 1)).toBe(36_000);
  expect(backoffMs(1, 0)).toBe(800);
});
