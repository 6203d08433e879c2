/**
 * Promise.all that rejects only after all calls have ended, with the first failure in their order. A failure
 * of Promise.all leaves the other calls under way: the function returns, Lambda freezes it, and what they
 * still write is written at the next invocation, hours later and without a lease. The linter forbids
 * Promise.all in functions and shared (biome-calls.grit).
 */
export async function allToEnd<T extends readonly unknown[] | []>(
  calls: T,
): Promise<{ -readonly [I in keyof T]: Awaited<T[I]> }> {
  await Promise.allSettled(calls);
  return Promise.all(calls);
}

/**
 * Runs `work` on every item, at most `limit` at a time. Resolves to the results in order. Rejects with the
 * first error, after all begun work has ended.
 */
export async function concurrently<T, R>(
  limit: number,
  items: readonly T[],
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const failures: unknown[] = [];
  const lane = async (): Promise<void> => {
    while (next < items.length && failures.length === 0) {
      const i = next++;
      try {
        results[i] = await work(items[i] as T);
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, lane));
  if (failures.length > 0) throw failures[0];
  return results;
}

export interface Settled<R> {
  /** In order, without those of failed items. */
  readonly results: readonly R[];
  readonly failures: readonly unknown[];
}

/** Like `concurrently`, but a failed item keeps no other one from being worked on. */
export async function concurrentlySettled<T, R>(
  limit: number,
  items: readonly T[],
  work: (item: T) => Promise<R>,
): Promise<Settled<R>> {
  const failures: unknown[] = [];
  const results = await concurrently(limit, items, async (item) => {
    try {
      return { result: await work(item) };
    } catch (error) {
      failures.push(error);
      return undefined;
    }
  });
  return { results: results.flatMap((r) => (r ? [r.result] : [])), failures };
}

/** Rejects with the first failure after every item is worked on. */
export async function concurrentlyToEnd<T>(
  limit: number,
  items: readonly T[],
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const { failures } = await concurrentlySettled(limit, items, work);
  if (failures.length > 0) throw failures[0];
}
