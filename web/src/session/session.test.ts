import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { memoryStorage } from "../lib/memory_storage";
import { Session } from "./session";

let tabs: FakeChannel[] = [];

/** Says to all other tabs at once what one says. */
class FakeChannel {
  onmessage: ((event: { data: unknown }) => void) | null = null;
  constructor() {
    tabs.push(this);
  }
  postMessage(data: unknown) {
    for (const tab of tabs) if (tab !== this) tab.onmessage?.({ data });
  }
}

function tab(storage = memoryStorage()) {
  return new Session(storage, new FakeChannel() as unknown as BroadcastChannel);
}

beforeEach(() => {
  vi.useFakeTimers();
  tabs = [];
});
afterEach(() => vi.useRealTimers());

it("asks the open tabs, and is out when there are none", () => {
  const alone = tab();
  expect(alone.current()).toBe("restoring");
  vi.runAllTimers();
  expect(alone.current()).toBe("out");
});

it("is handed to a new tab", () => {
  const first = tab();
  first.begin("secret");
  const second = tab();
  expect(second.current()).toBe("in");
  expect(second.headerSecret()).toBe("secret");
  vi.runAllTimers();
  expect(second.current()).toBe("in");
});

it("survives a reload by the tab's storage", () => {
  const storage = memoryStorage();
  tab(storage).begin("secret");
  expect(tab(storage).headerSecret()).toBe("secret");
});

it("ends in all tabs, and leaves nothing behind", () => {
  const storage = memoryStorage();
  const first = tab(storage);
  const second = tab();
  first.begin("secret");
  expect(second.current()).toBe("in");
  second.end();
  expect(first.current()).toBe("out");
  expect(storage.length).toBe(0);
});

it("gives a refused request another try only when another login came meanwhile", () => {
  const first = tab();
  first.begin("old");
  expect(first.refused("old")).toBe(false);
  expect(first.current()).toBe("out");
  first.begin("new");
  expect(first.refused("old")).toBe(true);
  expect(first.current()).toBe("in");
});

it("tells who listens", () => {
  const first = tab();
  const heard: string[] = [];
  const stop = first.subscribe(() => heard.push(first.current()));
  first.begin("secret");
  first.end();
  stop();
  first.begin("secret");
  expect(heard).toEqual(["in", "out"]);
});
