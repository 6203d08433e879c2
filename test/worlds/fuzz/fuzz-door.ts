/**
 * Runs one door: each case ends in time, rejects nothing behind its back, and leaves the prototypes as they
 * were.
 */
import fc from 'fast-check';
import type { Door } from './door.ts';

export interface FuzzOptions {
  readonly seed: number;
  /** The path of one case, as a failure prints it; all cases run without it. */
  readonly path?: string;
  readonly cases?: number;
  /** Called before each case. */
  readonly onCase?: () => void;
}

export interface Failure {
  readonly seed: number;
  readonly path: string;
  readonly error: string;
  /** The smallest value that fails, as text. */
  readonly value: string;
}

/** Processor time, so a busy machine fails no case. */
const maxCaseMs = 10_000;
/** With the search for the smallest value that fails. */
const maxRunMs = 60_000;
const maxValueCharacters = 3_000;

export async function fuzzDoor(
  { values, check, cases }: Door,
  options: FuzzOptions,
): Promise<Failure | undefined> {
  const rejected: unknown[] = [];
  const onRejection = (reason: unknown): void => void rejected.push(reason);
  process.on('unhandledRejection', onRejection);
  const property = fc.asyncProperty(values, async (value) => {
    options.onCase?.();
    const begun = process.cpuUsage();
    await check(value);
    const { user, system } = process.cpuUsage(begun);
    const usedMs = (user + system) / 1_000;
    if (usedMs > maxCaseMs)
      throw new Error(`the case used ${Math.round(usedMs)} ms of the processor, and may use ${maxCaseMs}`);
    // Node reports a rejection without a handler at the end of a turn.
    await new Promise((resolve) => setImmediate(resolve));
    const [first] = rejected.splice(0);
    if (first !== undefined) throw new Error(`a rejection without a handler: ${String(first)}`);
    checkPrototypes();
  });
  const { seed, path } = options;
  const result = await fc.check(property, {
    seed,
    numRuns: options.cases ?? cases,
    interruptAfterTimeLimit: maxRunMs,
    ...(path !== undefined && { path }),
  });
  process.off('unhandledRejection', onRejection);
  if (!result.failed) return undefined;
  const value = fc.stringify(result.counterexample?.[0]);
  return {
    seed,
    path: result.counterexamplePath ?? '',
    error: errorText(result.errorInstance),
    value:
      value.length > maxValueCharacters
        ? `${value.slice(0, maxValueCharacters)}… (${value.length} characters)`
        : value,
  };
}

const errorText = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);

const prototypes = {
  Object: Object.prototype,
  Array: Array.prototype,
  Function: Function.prototype,
  String: String.prototype,
};
const namesOf = (): string =>
  JSON.stringify(Object.entries(prototypes).map(([name, of]) => [name, Reflect.ownKeys(of).map(String)]));
const namesBefore = namesOf();

function checkPrototypes(): void {
  if (namesOf() !== namesBefore) throw new Error('a prototype has another set of properties than before');
}
