import { expect, it } from 'vitest';
import { mayBeOutdated } from '#functions/sync/state/run.ts';
import type { OutputRecord } from '#shared/store/outputs.ts';
import { versionOf } from '#shared/store/version.ts';
import { noWork } from '#shared/workqueue/rules/item.ts';

const saved = (kind: OutputRecord['kind'], incarnation: number, isGone = false): OutputRecord => ({
  kind,
  name: 'svc',
  uid: 'u',
  version: versionOf(incarnation, '7'),
  generation: 1,
  object: isGone ? undefined : ({ kind, metadata: { name: 'svc' } } as OutputRecord['object']),
});
const run = (...outputs: readonly OutputRecord[]) => ({ live: false, work: noWork, inputs: { outputs }, meta: { incarnation: 2 } });

it('Endpoints that were saved before the cluster was restored are read from it, although a run since has read the slices alone', () => {
  expect(mayBeOutdated(run(saved('Endpoints', 1), saved('EndpointSlice', 2)), 'endpoints')).toBe(true);
  expect(mayBeOutdated(run(saved('Endpoints', 1), saved('EndpointSlice', 2)), 'slices')).toBe(false);
});

it('what was saved since the restore is believed, and what was gone before it is not asked for', () => {
  expect(mayBeOutdated(run(saved('Endpoints', 2)), 'endpoints')).toBe(false);
  expect(mayBeOutdated(run(saved('Endpoints', 1, true)), 'endpoints')).toBe(false);
});
