import type { Arbitrary } from 'fast-check';

/** A place where the system takes in what others have written. */
export interface Door<T = unknown> {
  readonly name: string;
  /** Cases with one seed: as many as take about half a second. */
  readonly cases: number;
  readonly values: Arbitrary<T>;
  /** Throws, or rejects, with what the door has done wrong with the value. */
  readonly check: (value: T) => void | Promise<void>;
}

/** Keeps the type of a door's values out of the list of all doors. */
export const door = <T>(of: Door<T>): Door => of as unknown as Door;

export function ensure(holds: unknown, problem: string): asserts holds {
  if (!holds) throw new Error(problem);
}
