import { cidrsOverlap, parseCidr } from '#shared/kube/cidr.ts';

/** The first two ranges that have an address in common. */
export function firstOverlap(
  a: readonly string[] = [],
  b: readonly string[] = [],
): readonly [string, string] | undefined {
  for (const one of a) {
    const range = parseCidr(one);
    const other = b.find((text) => {
      const parsed = parseCidr(text);
      return range && parsed && cidrsOverlap(range, parsed);
    });
    if (other) return [one, other];
  }
  return undefined;
}
