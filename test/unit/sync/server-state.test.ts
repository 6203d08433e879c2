import { expect, it } from 'vitest';
import { ServerState } from '#functions/sync/state/server-state.ts';
import type { EndpointSlice } from '#shared/kube/types.ts';
import type { OutputRecord } from '#shared/store/outputs/outputs.ts';
import { versionOf } from '#shared/store/version.ts';

const slice = (uid: string, resourceVersion: string) => ({
  metadata: { name: 'svc-abcde', namespace: 'ns', uid, resourceVersion },
  addressType: 'IPv4',
  endpoints: [],
});

it('outputs deleted from a recreated cluster are saved at the version of the former one', () => {
  const former: OutputRecord = {
    kind: 'EndpointSlice',
    name: 'svc-abcde',
    uid: 'u1',
    version: versionOf(1, '100056'),
    generation: 1,
    object: slice('u1', '100056'),
  };
  const server = new ServerState(2, [former]);
  server.recordMissing('EndpointSlice', slice('u1', '100056'));
  const [gone] = server.records;
  expect(gone?.version).toBe(former.version);
  // Any later object of that name is then newer.
  server.recordPresent('EndpointSlice', slice('u2', '233'));
  expect((server.records[0]?.version ?? '') > (gone?.version ?? '')).toBe(true);
});

it('a slice that a list lacks is saved at the version of the list, so a late save of a version in between does not bring it back', () => {
  const saved = slice('u1', '42');
  const before: OutputRecord[] = [
    {
      kind: 'EndpointSlice',
      name: 'svc-abcde',
      uid: 'u1',
      version: versionOf(1, '42'),
      generation: 1,
      object: saved,
    },
  ];
  const missing = (incarnation: number, asOf: string): string | undefined => {
    const server = new ServerState(incarnation, before);
    server.recordMissing('EndpointSlice', saved as EndpointSlice, asOf);
    return server.records[0]?.version;
  };
  expect(missing(1, '60')).toBe(versionOf(1, '60'));
  expect(missing(2, '5')).toBe(versionOf(2, '5'));
  // The cluster went back, and the hub does not know yet.
  expect(missing(1, '7')).toBe(versionOf(1, '42'));
});

it('outputs found as they were saved are not saved again', () => {
  const before: OutputRecord[] = [
    {
      kind: 'EndpointSlice',
      name: 'svc-abcde',
      uid: 'u1',
      version: versionOf(1, '7'),
      generation: 1,
      object: slice('u1', '7'),
    },
  ];
  const found = (uid: string, resourceVersion: string, isGone = false): number => {
    const server = new ServerState(1, before);
    server[isGone ? 'recordMissing' : 'recordPresent']('EndpointSlice', slice(uid, resourceVersion));
    return server.unsaved.length;
  };
  expect(found('u1', '7')).toBe(0);
  expect(found('u1', '8')).toBe(1);
  expect(found('u2', '7')).toBe(1);
  expect(found('u1', '7', true)).toBe(1);
});

it('a slice that the run has written, and then deletes, is not one that it found', () => {
  const before: OutputRecord[] = [
    {
      kind: 'EndpointSlice',
      name: 'svc-abcde',
      uid: 'u1',
      version: versionOf(1, '4'),
      generation: 1,
      object: slice('u1', '4'),
    },
  ];
  const server = new ServerState(1, before, Date.now);
  server.countWrite('EndpointSlice');
  server.recordPresent('EndpointSlice', slice('u1', '5'));
  server.recordDeleted('EndpointSlice', slice('u1', '5'));
  expect(server.found).toEqual([]);
});

it('an output that the run finds absent, and has not touched, was deleted by another client, also after a write of another output', () => {
  const [absent, deleted] = ['other', 'own'].map((name) => ({
    ...slice('u1', '7'),
    metadata: { ...slice('u1', '7').metadata, name },
  }));
  const server = new ServerState(1, []);
  server.recordDeleted('EndpointSlice', deleted as EndpointSlice);
  server.countWrite('EndpointSlice');
  for (const each of [absent, deleted]) server.recordMissing('EndpointSlice', each as EndpointSlice);
  expect(server.found.map(({ record }) => [record.name, record.object !== undefined])).toEqual([
    ['own', true],
    ['other', false],
  ]);
});
