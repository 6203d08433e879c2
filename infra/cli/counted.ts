/** Returns a number with its noun, which is given in the singular: `1 cluster`, `2 clusters`. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;
