/**
 * A part of a list of an output kind is applied in steps, and goes on behind the last whole one. A run that comes to the end of no step would not either
 * when it is made again, so each such run makes the steps of those that follow half as large. Pure.
 */
import type { IngestLimits } from '#shared/contract/ingest-limits.ts';

export const stepInRun = (run: number, most: number): number => Math.max(1, Math.floor(most / 2 ** (run - 1)));

/** The number of the run after one that has come to the end of a step: the steps stay as they are, and runs that come to none are counted again. */
export const runAfterStep = (run: number, { entriesPerStep, servicesPerStep }: IngestLimits): number =>
  Math.min(run, 1 + Math.ceil(Math.log2(Math.max(entriesPerStep, servicesPerStep))));
