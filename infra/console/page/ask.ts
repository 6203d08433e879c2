import type { Failure } from '../api-types.ts';

/** Throws the error of the API's answer. */
export async function ask<T>(path: string, query: { readonly [name: string]: string | undefined } = {}): Promise<T> {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const search = new URLSearchParams(given).toString();
  const answer = await fetch(search ? `${path}?${search}` : path);
  const body = (await answer.json()) as T | Failure;
  if (!answer.ok) throw new Refused((body as Failure).error);
  return body as T;
}

/** The API has answered with an error. */
export class Refused extends Error {
  override readonly name = 'Refused';
}
