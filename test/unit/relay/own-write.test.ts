import { expect, it } from 'vitest';
import { isEcho } from '#functions/relay/projection/own-write.ts';
import { SentIndex } from '#functions/relay/projection/sent-index.ts';
import { Meter } from '#functions/relay/runtime/meter.ts';
import { defaultLimits } from '#shared/contract/limits.ts';
import { importsManagedBy, labelServiceName, labelSliceManagedBy } from '#shared/kube/names.ts';
import { silent } from '#test/unit/ingest/hub.ts';

const entry = { namespace: 'ns', name: 'svc', resourceVersion: '9', uid: 'u', service: 'svc' };
const at = (second: number): string => `2026-01-01T00:00:0${second}Z`;
const written = (...managedFields: readonly object[]) => ({
  type: 'MODIFIED',
  object: { metadata: { name: 'svc', managedFields } },
});

it.each([
  [
    'the newest writer is a hub',
    [
      { manager: 'kube-controller-manager', time: at(1) },
      { manager: 'fleet-endpoints-4f2a', time: at(2) },
    ],
    true,
  ],
  ['the newest writer has no id of a hub', [{ manager: 'fleet-endpoints', time: at(2) }], false],
  [
    'another one wrote later',
    [
      { manager: 'fleet-endpoints-4f2a', time: at(2) },
      { manager: 'kubectl-edit', time: at(3) },
    ],
    false,
  ],
  [
    'another one wrote in the same second',
    [
      { manager: 'fleet-endpoints-4f2a', time: at(2) },
      { manager: 'kubectl-edit', time: at(2) },
    ],
    false,
  ],
  ['its name only begins alike', [{ manager: 'fleet-endpoints2', time: at(2) }], false],
  ['the server does not say who wrote', [], false],
])('an object counts as an echo by its writers: %s', (_, managedFields, expected) => {
  expect(isEcho('Endpoints', written(...managedFields), entry)).toBe(expected);
});

it('neither an input, nor a deletion, nor an object that is sent whole is an echo', () => {
  const ours = written({ manager: 'fleet-endpoints-4f2a', time: at(2) });
  expect(isEcho('EndpointSlice', ours, entry)).toBe(true);
  expect(isEcho('Pod', ours, entry)).toBe(false);
  expect(isEcho('EndpointSlice', { ...ours, type: 'DELETED' }, entry)).toBe(false);
  expect(isEcho('EndpointSlice', ours, { ...entry, object: {} })).toBe(false);
});

it('the hub’s own writes of an imported slice are not sent; edits and deletions by others are', () => {
  const index = new SentIndex({
    clock: { now: () => 0, monotonic: () => 0, after: () => () => {}, random: () => 0 },
    log: silent,
    meter: new Meter(),
    outputs: 'metadata',
    limits: defaultLimits,
  });
  const slice = (managedBy: string, ...managedFields: readonly object[]) => ({
    metadata: {
      namespace: 'ns',
      name: 's',
      labels: { [labelSliceManagedBy]: managedBy, [labelServiceName]: 'derived-x' },
      managedFields,
    },
  });
  const sent = (type: 'ADDED' | 'MODIFIED' | 'DELETED', object: object) =>
    index.onEvent('EndpointSlice', { type, object: object as never }, '9');
  const ours = { manager: 'fleet-endpoints-4f2a', time: at(2) };
  expect(sent('ADDED', slice(importsManagedBy, ours))).toBeUndefined();
  expect(sent('MODIFIED', slice(importsManagedBy, ours))).toBeUndefined();
  expect(
    sent('MODIFIED', slice(importsManagedBy, ours, { manager: 'kubectl-edit', time: at(3) })),
  ).toMatchObject({ name: 's' });
  expect(sent('DELETED', slice(importsManagedBy, ours))).toMatchObject({ deleted: true });
  expect(sent('MODIFIED', slice('fleet-endpoints', ours))).toMatchObject({ name: 's' });
});
