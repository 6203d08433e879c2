/**
 * A table that came without records of the clusters: `register` writes them from the stacks' outputs, as the
 * stacks' own registration does.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { register } from '#infra/cli/act/register.ts';
import { listAudit } from '#shared/clusters/audit.ts';
import { clusterOfQueue, listClusters, readCluster } from '#shared/clusters/record.ts';
import { switchMode } from '#shared/clusters/writer/mode-switch.ts';
import { clusterIndexKey, metaKey } from '#shared/store/keys.ts';
import { localHub } from '#test/unit/infra/cli/hub/local-hub.ts';

const arnOf = (cluster: string, queue: string): string =>
  `arn:aws:sqs:eu-west-1:000000000000:${cluster}-${queue}`;
let hub: Awaited<ReturnType<typeof localHub>>;
let files: { readonly clusters: string; readonly outputs: string };

beforeAll(async () => {
  hub = await localHub();
  await hub.register('shop');
  await hub.register('blog');
  files = { clusters: join(hub.folder, 'clusters.yaml'), outputs: join(hub.folder, 'outputs.json') };
  const relay = 'relay: { identity: { type: pod-identity, clusterName: c } }';
  const api = 'api: { url: "https://shop.example.com", auth: { type: web-identity, audience: shop } }';
  await writeFile(
    files.clusters,
    `hub: { name: Fleet }\nclusters:\n  - { id: shop, mode: active, settings: { batchPeriodSeconds: 2 }, ${api}, ${relay} }\n  - { id: blog, ${relay} }\n  - { id: not-deployed, ${relay} }\n`,
  );
  const outputs: { [stack: string]: object } = {};
  for (const id of ['shop', 'blog']) {
    const { events, syncs, parked, quarantine } = (await readCluster(hub.table, id))!.queues!;
    outputs[`Fleet-cluster-${id}`] = { EventsQueueUrl: events, SyncsQueueUrl: syncs };
    outputs['Fleet-hub'] = {
      TableName: hub.addresses.tableName,
      ParkedQueueUrl: parked,
      QuarantineQueueUrl: quarantine,
    };
  }
  await writeFile(files.outputs, JSON.stringify(outputs));
});
afterAll(() => hub?.close());

const said: string[] = [];
const run = (chosen: string | undefined, all = false, of = files) => {
  said.length = 0;
  const target = {
    ...hub,
    name: 'the table',
    tableName: hub.addresses.tableName,
    connectionsFile: undefined,
    now: Date.now,
  };
  return register(target, { files: of, chosen, all, who: 'somebody', say: (line) => void said.push(line) });
};

/** Everything that the hub knows of clusters is gone. */
async function loseRecords(): Promise<void> {
  for (const id of ['shop', 'blog']) {
    await hub.table.delete(metaKey(id));
    await hub.table.delete({ pk: `ACCESS#${id}`, sk: 'ACCESS' });
    await hub.table.delete(clusterIndexKey(id));
    for (const queue of ['events', 'syncs'])
      await hub.table.delete({ pk: `QUEUE#${arnOf(id, queue)}`, sk: 'CLUSTER' });
  }
  expect(await listClusters(hub.table)).toEqual([]);
  expect(await clusterOfQueue(hub.table, arnOf('shop', 'events'))).toBeUndefined();
}

it('all clusters of the file are registered again with queues, settings and access, and one that is not deployed is named without stopping the others', async () => {
  const { events, syncs } = (await readCluster(hub.table, 'shop'))!.queues!;
  await loseRecords();
  await expect(run(undefined, true)).rejects.toThrow(
    'not registered: not-deployed: there is no output EventsQueueUrl of Fleet-cluster-not-deployed',
  );
  expect([...said].sort()).toEqual(['blog  registered, shadow', 'shop  registered, active']);
  expect(await readCluster(hub.table, 'shop')).toMatchObject({
    mode: 'active',
    queues: { events, syncs },
    settings: { batchPeriodSeconds: 2 },
    api: { url: 'https://shop.example.com', auth: { type: 'web-identity', audience: 'shop' } },
  });
  for (const queue of ['events', 'syncs'])
    expect(await clusterOfQueue(hub.table, arnOf('blog', queue))).toBe('blog');
  expect(await listClusters(hub.table)).toEqual(['blog', 'shop']);
  expect((await listAudit(hub.table, 'shop')).map(({ who, what }) => ({ who, what }))).toContainEqual({
    who: 'somebody',
    what: 'registered, active',
  });
});

it('a cluster that is known keeps its mode', async () => {
  await switchMode(hub.table, 'blog', 'paused', Date.now());
  await run('blog');
  expect(said).toEqual(['blog  registered again, mode as it was']);
  expect((await readCluster(hub.table, 'blog'))?.mode).toBe('paused');
});

it('files of another hub are refused, and so is a cluster that is in none', async () => {
  const clusters = join(hub.folder, 'other.yaml');
  await writeFile(clusters, 'hub: { name: Other }');
  await expect(run(undefined, true, { ...files, clusters })).rejects.toThrow(
    /belong to the hub Other with table \(not in the outputs\), and the command is for the table/,
  );
  await expect(run('unknown')).rejects.toThrow(
    /no cluster unknown in .*clusters\.yaml: it has shop, blog, not-deployed/,
  );
  await expect(run(undefined)).rejects.toThrow('which cluster? shop, blog, not-deployed, or --all');
  await expect(run('shop', false, { ...files, outputs: 'nowhere.json' })).rejects.toThrow(
    'there is no nowhere.json: cdk deploy --outputs-file writes it',
  );
});
