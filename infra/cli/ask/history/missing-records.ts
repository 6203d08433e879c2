/**
 * Missing records: a worker died before it wrote its record, the table refused the write, or the record
 * cannot be read.
 */
export interface Link {
  readonly id: number;
  readonly previous: number | undefined;
}

/**
 * Returns the ids of missing records from `fromMs` on, newest first. `newest` is the id in the work item, and
 * `links` are the found records in any order.
 */
export function missingRecords(
  newest: number | undefined,
  links: readonly Link[],
  fromMs: number,
): readonly number[] {
  const there = new Set(links.map(({ id }) => id));
  const named = new Set([newest, ...links.map(({ previous }) => previous)]);
  return [...named]
    .filter((id): id is number => id !== undefined && id >= fromMs && !there.has(id))
    .sort((a, b) => b - a);
}
