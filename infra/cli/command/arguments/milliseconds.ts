import { InvalidArgumentError } from 'commander';

/** Reads an option in seconds. */
export function milliseconds(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('a number of seconds is needed');
  return Number(text) * 1000;
}
