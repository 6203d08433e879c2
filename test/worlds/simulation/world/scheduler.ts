/**
 * Virtual time. One task runs, then all promises that it started, then the next task by time. Tasks must not
 * use timers or I/O, because only promises drive them.
 */
export class Scheduler {
  now: number;
  /** Tasks that have run. */
  steps = 0;
  readonly #drain: () => Promise<void>;
  readonly #heap: Task[] = [];
  #order = 0;

  constructor(startAt: number, drain = drainMicrotasks) {
    this.now = startAt;
    this.#drain = drain;
  }

  /** Tasks of one time run in the order in which they were planned. */
  at(time: number, run: () => void): void {
    const heap = this.#heap;
    const task = { time: Math.max(this.now, Math.ceil(time)), order: this.#order++, run };
    let i = heap.push(task) - 1;
    while (i > 0) {
      const up = (i - 1) >> 1;
      if (!before(task, heap[up] as Task)) break;
      heap[i] = heap[up] as Task;
      i = up;
    }
    heap[i] = task;
  }

  after(ms: number, run: () => void): void {
    this.at(this.now + ms, run);
  }

  /** Until nothing is planned before `end`, or the condition holds after a task. */
  async runUntil(end: number, enough: () => boolean = () => false): Promise<void> {
    // From here on we are in a microtask, which draining relies on.
    await undefined;
    while (!enough()) {
      const next = this.#heap[0];
      if (!next || next.time > end) {
        this.now = Math.max(this.now, end);
        return;
      }
      this.#pop();
      this.now = next.time;
      this.steps++;
      next.run();
      await this.#drain();
    }
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop() as Task;
    if (heap.length === 0) return;
    let i = 0;
    for (;;) {
      let child = 2 * i + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && before(heap[child + 1] as Task, heap[child] as Task)) child++;
      if (!before(heap[child] as Task, last)) break;
      heap[i] = heap[child] as Task;
      i = child;
    }
    heap[i] = last;
  }
}

interface Task {
  readonly time: number;
  readonly order: number;
  readonly run: () => void;
}

const before = (a: Task, b: Task): boolean => a.time < b.time || (a.time === b.time && a.order < b.order);

/**
 * Resolves when no microtask is left, with microtasks that microtasks create: a tick requested within a
 * microtask comes after them. It costs a third of setImmediate, with which the test of the scheduler compares
 * it.
 */
export const drainMicrotasks = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));
export const drainByImmediate = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
