/** Outputs are divided into deltas and bodies in little processor time. */
import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import type { EndpointSlice } from '#shared/kube/types.ts';
import { divide, noDeltas } from '#shared/store/outputs/deltas.ts';
import {
  bodyItem,
  maxSavedBytes,
  type OutputRecord,
  savedBodyOf,
  sortKeyOf,
} from '#shared/store/outputs/output-items.ts';
import { versionOf } from '#shared/store/version.ts';

const hash = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Slice number n of 100 pods. */
function sliceOf(n: number, rv: string, pods: string): OutputRecord {
  const endpoints = Array.from({ length: 100 }, (_, i) => ({
    addresses: [`10.${n}.0.${i}`],
    conditions: { ready: true, serving: true, terminating: false },
    nodeName: `node-${i}`,
    targetRef: { kind: 'Pod', namespace: 'ns', name: `${pods}-${i}`, uid: hash(`${pods} ${n} ${i}`) },
  }));
  const metadata = { name: `svc-${n}`, resourceVersion: rv };
  const object = { metadata, addressType: 'IPv4', endpoints } as EndpointSlice;
  return {
    kind: 'EndpointSlice',
    name: `svc-${n}`,
    uid: 'u',
    version: versionOf(1, rv),
    generation: 1,
    object,
  };
}

it('a run that replaces all 10,000 pods of a Service divides its slices in less than half a second', () => {
  const slices = (rv: string, pods: string) => Array.from({ length: 100 }, (_, n) => sliceOf(n, rv, pods));
  const before = slices('7', 'blue');
  const bodies = new Map(
    before.map((record) => {
      const sk = sortKeyOf(record);
      return [sk, savedBodyOf(bodyItem({ pk: 'c#OUT#ns/svc', sk }, record, maxSavedBytes))];
    }),
  );
  const changed = slices('8', 'green');
  const from = process.cpuUsage();
  const { deltas, asBodies } = divide({ before, bodies, deltas: noDeltas, changed }, 1_700);
  const { user, system } = process.cpuUsage(from);
  expect([deltas.size, asBodies.length]).toEqual([0, 100]);
  // Processor time: other processes of the machine do not count.
  expect((user + system) / 1e6).toBeLessThan(0.5);
});
