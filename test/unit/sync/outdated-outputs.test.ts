/** Outputs that were saved before a restore of the cluster are read from the API server. */
import { expect, it } from 'vitest';
import { mustReadFromApiServer } from '#functions/sync/state/run.ts';
import type { OutputRecord } from '#shared/store/outputs/outputs.ts';
import { versionOf } from '#shared/store/version.ts';
import { noWork } from '#test/support/absent-records.ts';

const saved = (kind: OutputRecord['kind'], incarnation: number, isGone = false): OutputRecord => ({
  kind,
  name: 'svc',
  uid: 'u',
  version: versionOf(incarnation, '7'),
  generation: 1,
  object: isGone ? undefined : ({ kind, metadata: { name: 'svc' } } as OutputRecord['object']),
});
const run = (...outputs: readonly OutputRecord[]) => ({
  wasTakenOver: false,
  work: noWork,
  inputs: { outputs },
  cluster: { incarnation: 2 },
});

it('Endpoints that were saved before the cluster was restored are read from it, although a run since has read the slices alone', () => {
  expect(mustReadFromApiServer(run(saved('Endpoints', 1), saved('EndpointSlice', 2)), 'endpoints')).toBe(
    true,
  );
  expect(mustReadFromApiServer(run(saved('Endpoints', 1), saved('EndpointSlice', 2)), 'slices')).toBe(false);
});

it('outputs saved since the restore are trusted, and outputs deleted before it are not read', () => {
  expect(mustReadFromApiServer(run(saved('Endpoints', 2)), 'endpoints')).toBe(false);
  expect(mustReadFromApiServer(run(saved('Endpoints', 1, true)), 'endpoints')).toBe(false);
});
