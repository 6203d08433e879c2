/** Records that are not there: a worker died before it wrote one, the table refused it, or it cannot be read. */
export interface Link {
  readonly id: number;
  readonly previous: number | undefined;
}

/** `newest`: of the last record that a run has begun to write; `links`: of the records that are there. The ids of those that are missing, newest first. */
export function missingRecords(newest: number | undefined, links: readonly Link[], fromMs: number): readonly number[] {
  const there = new Set(links.map(({ id }) => id));
  const named = new Set([newest, ...links.map(({ previous }) => previous)]);
  return [...named].filter((id): id is number => id !== undefined && id >= fromMs && !there.has(id)).sort((a, b) => b - a);
}
