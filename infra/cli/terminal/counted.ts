/** Returns a number with its noun, which is given in the singular: `1 cluster`, `2 clusters`. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

const shown = 20;

export const listedNames = (names: readonly string[]): string =>
  names.length === 0
    ? 'none'
    : `${names.slice(0, shown).join(', ')}${names.length > shown ? ` and ${names.length - shown} more` : ''}`;

/** Returns `there is a`, `there are a, b` or `there are none`. */
export const thereAre = (names: readonly string[]): string =>
  `there ${names.length === 1 ? 'is' : 'are'} ${listedNames(names)}`;
