import { familyOf, readVectors, recorded, type Vector } from './vector.ts';

/** The recorded vectors by family, and the many of one family in portions. */
export function byFamily(): ReadonlyMap<string, readonly Vector[]> {
  const groups = Map.groupBy(
    recorded.flatMap((file) => [...readVectors(file).entries()]),
    ([i, vector]) => {
      const family = familyOf(vector);
      return family === 'random' ? `${family}, portion ${1 + Math.floor(i / 50)}` : family;
    },
  );
  return new Map([...groups].map(([family, entries]) => [family, entries.map(([, vector]) => vector)]));
}
