/**
 * Copies a JSON value. Every write of the store makes a copy, and this is several times as fast as
 * structuredClone or a round of JSON.
 */
export function copyJson<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(copyJson) as T;
  const copy: { [field: string]: unknown } = {};
  for (const field in value) copy[field] = copyJson(value[field]);
  return copy as T;
}

/** Copies a JSON value without the fields that are null or undefined, as the API server reads an object. */
export function copyWithoutNulls<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(copyWithoutNulls) as T;
  const copy: { [field: string]: unknown } = {};
  for (const field in value)
    if (value[field] !== null && value[field] !== undefined) copy[field] = copyWithoutNulls(value[field]);
  return copy as T;
}
