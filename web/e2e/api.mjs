// The API beside the browser, to set a scene or to look at what a press has done.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";

export class Tenant {
  constructor(at, login, password) {
    Object.assign(this, { at, login, password });
  }

  static async operator(at) {
    return new Tenant(at, "admin", at.operatorPassword).loggedIn();
  }

  async loggedIn() {
    this.token = (await this.call("POST", "/auth/login", { login: this.login, password: this.password })).token;
    return this;
  }

  async call(method, path, body, expected = [200, 201, 204]) {
    const response = await fetch(`${this.at.url}/api/v1${path}`, {
      method,
      headers: {
        "Content-Type": "application/json",
        ...(this.token ? { Authorization: `Bearer ${this.token}` } : {}),
        ...(method === "POST" ? { "Idempotency-Key": randomUUID() } : {}),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await response.text();
    assert.ok(expected.includes(response.status), `${method} ${path}: ${response.status} ${text}`);
    return text ? JSON.parse(text) : undefined;
  }

  /** Somebody new, with money. */
  async newTenant(login, credit) {
    const password = `pw-${randomUUID()}`;
    await this.call("POST", "/admin/accounts", { login, password });
    if (credit) await this.call("POST", "/admin/topups", { account: login, amount: credit });
    return new Tenant(this.at, login, password).loggedIn();
  }

  rent(body, wait = "30s") {
    return this.call("POST", `/instances?wait=${wait}`, body);
  }
}

/** Asks until it is so; the last answer is in the error. */
export async function until(what, ask, ms = 30_000) {
  const end = Date.now() + ms;
  for (;;) {
    const answer = await ask();
    if (answer) return answer;
    if (Date.now() > end) throw new Error(`not within ${ms} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

let number = 0;
export const unique = (word) => `${word}${(++number).toString(36)}${Math.floor(Math.random() * 1e6).toString(36)}`;
