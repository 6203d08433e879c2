/**
 * Every command that writes takes its times from the hub's clock: the machine that it runs on may be minutes
 * off, and functions compare these times with their own.
 */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { rebuild } from '#infra/cli/act/rebuild.ts';
import { clusterCommand } from '#infra/cli/command/cluster-command.ts';
import { redriveCommand } from '#infra/cli/command/redrive-command.ts';
import { connectHub, localHubFile, publishLocalAddresses } from '#infra/cli/hub/connect-hub.ts';
import { readCluster } from '#shared/clusters/record.ts';
import { encodeProjection } from '#shared/kube/projection/projection.ts';
import { encodeMessage } from '#shared/queue/codec.ts';
import { messageVersion } from '#shared/queue/messages.ts';
import { putObject } from '#shared/store/inputs/objects.ts';
import { metaKey } from '#shared/store/keys.ts';
import type { Key } from '#shared/store/table.ts';
import { versionOf } from '#shared/store/version.ts';
import { localHub } from './local-hub.ts';

let hub: Awaited<ReturnType<typeof localHub>>;

beforeAll(async () => {
  hub = await localHub();
  const connectionsFile = join(hub.folder, 'connections.json');
  await writeFile(connectionsFile, '{}');
  await publishLocalAddresses({ ...hub.addresses, connectionsFile, consoleUrl: '' });
  vi.stubEnv('HUB', String(process.pid));
  vi.stubEnv('TABLE_NAME', '');
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await rm(localHubFile(process.pid), { force: true });
  await hub?.close();
});

/**
 * From here on this machine's clock is off. The table's answers have the true time, because Node's own HTTP
 * server keeps it.
 */
function setMachineClock(aheadMs: number): void {
  const True = Date;
  class Machine extends True {
    constructor(...given: readonly unknown[]) {
      super(...((given.length > 0 ? given : [True.now() + aheadMs]) as [number]));
    }
    static override now(): number {
      return True.now() + aheadMs;
    }
  }
  vi.stubGlobal('Date', Machine);
  vi.spyOn(console, 'log').mockImplementation(() => {});
  vi.spyOn(console, 'error').mockImplementation(() => {});
}

/**
 * Every time in the cluster's records that is near enough to now to come from a clock, as its distance from
 * the true time.
 */
async function distancesMs(cluster: string, trueMs: number): Promise<readonly number[]> {
  const keys: Key[] = [];
  let next: Key | undefined;
  do {
    const page = await hub.table.scanKeys(next);
    keys.push(...page.keys.filter(({ pk }) => pk.includes(cluster)));
    next = page.next;
  } while (next);
  const texts = await Promise.all(keys.map(async (key) => JSON.stringify([key, await hub.table.get(key)])));
  return texts
    .flatMap((text) => [...text.matchAll(/\b1\d{12}\b|\d{4}-\d\d-\d\dT[\d:.]+Z/g)])
    .map(([time]) => Math.abs((time.includes('T') ? Date.parse(time) : Number(time)) - trueMs))
    .filter((distance) => distance < 3_600_000);
}

const membership = {
  set: 'prod',
  sameness: 'labelled',
  imports: 'off',
  exports: { namespaces: [] },
};

/** A member of a clusterset with a Service. */
async function member(id: string): Promise<void> {
  await hub.register(id);
  await hub.table.update(metaKey(id), { set: { clusterset: JSON.stringify(membership) } });
  await hub.table.put({ pk: `${id}#NS`, sk: 'ns/' });
  const projection = encodeProjection('Service', { metadata: { namespace: 'ns', name: 'web' } });
  const web = {
    namespace: 'ns',
    name: 'web',
    version: versionOf(1, '7'),
    unnotifiedLabels: undefined,
    projection,
    deletedAtMs: 0,
  };
  await putObject({ table: hub.table, cluster: id }, 'Service', web, undefined);
}

async function stackFiles(id: string) {
  const files = { clusters: join(hub.folder, `${id}.yaml`), outputs: join(hub.folder, `${id}.json`) };
  const { events, syncs, parked, quarantine } = (await readCluster(hub.table, id))!.queues!;
  await writeFile(
    files.clusters,
    `hub: { name: Fleet }\nclusters:\n  - { id: ${id}, relay: { identity: { type: pod-identity, clusterName: c } } }\n`,
  );
  const outputs = {
    [`Fleet-cluster-${id}`]: { EventsQueueUrl: events, SyncsQueueUrl: syncs },
    'Fleet-hub': {
      TableName: hub.addresses.tableName,
      ParkedQueueUrl: parked,
      QuarantineQueueUrl: quarantine,
    },
  };
  await writeFile(files.outputs, JSON.stringify(outputs));
  return files;
}

const command = (made: Command, ...args: readonly string[]): Promise<unknown> =>
  made.exitOverride().parseAsync(args, { from: 'user' });
const cluster = (...args: readonly string[]): Promise<unknown> => command(clusterCommand(), ...args);

const writing: { readonly [title: string]: (id: string) => Promise<unknown> } = {
  'cluster shadow': (id) => cluster('shadow', id),
  'cluster active': (id) => cluster('active', id, '--override'),
  'cluster pause': (id) => cluster('pause', id),
  'cluster opt-in active': (id) => cluster('opt-in', id, 'active', '--override'),
  'cluster opt-in off --withdraw': (id) =>
    cluster('opt-in', id, 'off', '--withdraw', '--override', '--wait-for', '0').catch(() => {}), // Nobody waits for it, which is an error after the write.
  'cluster zone': async (id) => {
    for (const zone of ['zone-a', 'zone-b']) {
      const labels = { 'topology.kubernetes.io/zone': zone };
      const projection = encodeProjection('Node', { metadata: { name: zone, labels } });
      const node = { namespace: '', name: zone, version: versionOf(1, '7'), projection, deletedAtMs: 0 };
      await putObject(
        { table: hub.table, cluster: id },
        'Node',
        { ...node, unnotifiedLabels: undefined },
        undefined,
      );
    }
    await hub.table.put({ pk: `${id}#NS`, sk: '/' });
    return cluster('zone', id, 'zone-a', 'away');
  },
  'cluster imports': (id) => cluster('imports', id, 'shadow', '--override'),
  'cluster exports': (id) => cluster('exports', id, 'ns', '--override'),
  'cluster register': async (id) => {
    const files = await stackFiles(id);
    await hub.table.delete(metaKey(id));
    return cluster('register', id, '--clusters', files.clusters, '--outputs', files.outputs);
  },
  'cluster rebuild': async (id) => {
    const { table, now } = connectHub(process.env);
    await rebuild({ table, now, wait: async () => {}, say: () => {}, who: 'somebody' }, [id]);
  },
  'redrive --run': async (id) => {
    const body = {
      v: messageVersion,
      cluster: id,
      namespace: 'ns',
      kind: 'service',
      name: 'web',
      generation: 1,
      retryNumbers: { endpoints: 0, slices: 0 },
    };
    await hub.put(id, 'parked', encodeMessage(body));
    return command(redriveCommand(), id, '--run');
  },
};

const machines = [
  ['behind', -600_000],
  ['ahead', 600_000],
] as const;

/** Commands for services across clusters may be left out. */
const isThere = (title: string): boolean => {
  const [of, name] = title.split(' ');
  return of !== 'cluster' || clusterCommand().commands.some((c) => c.name() === name);
};

describe.each(machines)('on a machine ten minutes %s', (word, aheadMs) => {
  it.each(Object.entries(writing).filter(([title]) => isThere(title)))(
    '%s writes the hub’s times',
    async (title, run) => {
      const id = `${title.replaceAll(/[^a-z]+/g, '-')}-${word}`;
      await member(id);
      const before = (await distancesMs(id, Date.now())).length;
      setMachineClock(aheadMs);
      await run(id);
      vi.unstubAllGlobals();
      const distances = await distancesMs(id, Date.now());
      expect(distances.length).toBeGreaterThan(title === 'cluster register' ? 0 : before);
      expect(Math.max(...distances)).toBeLessThan(60_000);
    },
  );
});

it('no command that switches a cluster is left out', () => {
  // `hand-back` writes to the clusters alone, without a hub.
  const reading = ['list', 'audit', 'hand-back'];
  const names = clusterCommand().commands.map((c) => c.name());
  const tried = Object.keys(writing).map((title) => title.split(' ')[1]);
  expect(names.filter((name) => !reading.includes(name) && !tried.includes(name))).toEqual([]);
});
