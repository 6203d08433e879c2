/** A zone of an exporting cluster that traffic is to leave: its pods leave the imports of other clusters too. */
import { expect, it } from 'vitest';
import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { switchZones, type ZoneAway } from '#shared/clusters/zones-away.ts';
import { addAll } from '#shared/workqueue/add-all.ts';
import {
  imported,
  importer,
  namespace,
  open,
  service,
  serviceExport,
} from '#test/clusterset/support/set-objects.ts';
import { SetWorld } from '#test/clusterset/support/set-world.ts';
import { pod } from '#test/support/objects.ts';

const silent = { info() {}, warn() {}, error() {}, with: () => silent };

const node = (zone: string): RawObject => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: `node-${zone}`, uid: zone, labels: { 'topology.kubernetes.io/zone': zone } },
});

const podIn = (zone: string, ip: string): RawObject =>
  pod(`web-${zone}`, {
    namespace: 'shop',
    uid: `web-${zone}`,
    ips: [ip],
    spec: { nodeName: `node-${zone}`, containers: [] },
  }) as unknown as RawObject;

async function send(world: SetWorld, id: string, zone: string, forMs: number): Promise<void> {
  const record = (await readCluster(world.table, id)) as ClusterRecord;
  const away: ZoneAway = { zone, sinceMs: world.nowMs, untilMs: world.nowMs + forMs, by: 'me' };
  expect(await switchZones(world.table, record, [away], world.nowMs)).toBe(true);
  const deps = { table: world.table, queues: () => world.of(id).queues, now: () => world.nowMs, log: silent };
  await addAll(deps, (await readCluster(world.table, id)) as ClusterRecord);
}

it('a zone that is away in a source leaves the imports within seconds, and comes back by itself', async () => {
  const world = await SetWorld.start({
    b: {
      ...open,
      exports: { namespaces: ['shop'] },
      given: [
        namespace(),
        service(),
        serviceExport(),
        ...[node('a'), node('b')],
        ...[podIn('a', '10.2.0.1'), podIn('b', '10.2.0.2')],
      ],
    },
    d: importer({ given: [namespace(), node('a'), node('b')] }),
  });
  await world.pass(30);
  expect(imported(world, 'd')).toEqual(['b 10.2.0.1', 'b 10.2.0.2']);
  // A zone of the importer of that name is another one.
  await send(world, 'd', 'b', 3_600_000);
  await send(world, 'b', 'a', 600_000);
  await world.pass(20);
  expect(imported(world, 'd')).toEqual(['b 10.2.0.2']);
  await world.pass(560);
  expect(imported(world, 'd')).toEqual(['b 10.2.0.2']);
  await world.pass(180);
  expect(imported(world, 'd')).toEqual(['b 10.2.0.1', 'b 10.2.0.2']);
});

it('a zone leaves an import only if ready pods of another source serve what it serves', async () => {
  const source = (ip: string, zone: string) => ({
    ...open,
    exports: { namespaces: ['shop'] },
    given: [namespace(), service(), serviceExport(), node(zone), podIn(zone, ip)],
  });
  const world = await SetWorld.start({
    b: source('10.2.0.1', 'a'),
    c: source('10.3.0.1', 'a'),
    d: importer({ given: [namespace()] }),
  });
  await world.pass(30);
  expect(imported(world, 'd')).toEqual(['b 10.2.0.1', 'c 10.3.0.1']);
  await send(world, 'b', 'a', 3_600_000);
  await world.pass(20);
  expect(imported(world, 'd')).toEqual(['c 10.3.0.1']);
  // Nothing else is left: the pods of both zones stay.
  await send(world, 'c', 'a', 3_600_000);
  await world.pass(20);
  expect(imported(world, 'd')).toEqual(['b 10.2.0.1', 'c 10.3.0.1']);
});
