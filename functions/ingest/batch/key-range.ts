/**
 * A range of keys "namespace/name" ("/name" for nodes) as bytes: from < key ≤ to; from "" and to "" are the
 * ends.
 */
interface Range {
  readonly from: string;
  readonly to: string;
}

export const inRange = (key: string, { from, to }: Range): boolean => key > from && (to === '' || key <= to);

/** Returns the part of the range in one namespace, as a range of names. */
export function rangeWithin(
  namespace: string,
  from: string,
  to: string,
): { readonly from?: string; readonly to?: string } {
  const prefix = `${namespace}/`;
  return {
    ...(from.startsWith(prefix) && { from: from.slice(prefix.length) }),
    ...(to.startsWith(prefix) && { to: to.slice(prefix.length) }),
  };
}
