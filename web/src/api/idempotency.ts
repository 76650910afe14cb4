// Idempotency keys. The same request keeps its key until its outcome is known, also across a lost
// answer, a press on the button again and a reload of the page: it is rented, or paid, once.

export class IdempotencyKeys {
  constructor(
    private readonly storage: Storage,
    private readonly fresh: () => string,
  ) {}

  keyFor(request: string): string {
    const kept = this.storage.getItem(this.slot(request));
    if (kept) return kept;
    const key = this.fresh();
    this.storage.setItem(this.slot(request), key);
    return key;
  }

  /** The server has answered for good: the next such request is a new one. */
  settled(request: string): void {
    this.storage.removeItem(this.slot(request));
  }

  private slot(request: string): string {
    return `cardhour.pending ${request}`;
  }
}

export function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
