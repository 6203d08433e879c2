/** A memory budget for concurrent messages, in bytes. Messages wait in order until they fit. A message above the budget runs alone. */
export class Room {
  readonly #size: number;
  #taken = 0;
  readonly #waiting: { readonly bytes: number; readonly enter: () => void }[] = [];

  constructor(size: number) {
    this.#size = size;
  }

  async runWithin<T>(bytes: number, work: () => Promise<T>): Promise<T> {
    const share = Math.min(bytes, this.#size);
    await new Promise<void>((enter) => {
      this.#waiting.push({ bytes: share, enter });
      this.#admit();
    });
    try {
      return await work();
    } finally {
      this.#taken -= share;
      this.#admit();
    }
  }

  #admit(): void {
    for (let next = this.#waiting[0]; next && this.#taken + next.bytes <= this.#size; next = this.#waiting[0]) {
      this.#waiting.shift();
      this.#taken += next.bytes;
      next.enter();
    }
  }
}
