/**
 * A page of an output kind's list is applied in steps, and continues after the last whole step. A run that finishes no step would fail the same way again,
 * so each such run halves the steps of the next runs. Pure.
 */
import type { IngestLimits } from '#shared/contract/ingest-limits.ts';

export const stepInRun = (run = 1, most: number): number => Math.max(1, Math.floor(most / 2 ** (run - 1)));

/** Returns the number of the next run after a run that finished a step. The size of the steps stays, and the count of runs without a step begins again. */
export const runAfterStep = (run: number, { entriesPerStep, servicesPerStep }: IngestLimits): number =>
  Math.min(run, 1 + Math.ceil(Math.log2(Math.max(entriesPerStep, servicesPerStep))));
