import type { Failure } from '../api-types.ts';
import { inZone } from './charts/time-zone.ts';

/**
 * Requests a path of the API. Times in the texts of the answer are in the page's zone. Throws Refused with
 * the API's error.
 */
export async function ask<T>(
  path: string,
  query: { readonly [name: string]: string | undefined } = {},
): Promise<T> {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const search = new URLSearchParams(given).toString();
  const answer = await fetch(search ? `${path}?${search}` : path);
  const body = JSON.parse(await answer.text(), (_, value) =>
    typeof value === 'string' ? inZone(value) : value,
  ) as T | Failure;
  if (!answer.ok) throw new Refused((body as Failure).error);
  return body as T;
}

/** An error answer of the API. */
export class Refused extends Error {
  override readonly name = 'Refused';
}
