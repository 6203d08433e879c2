import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { stringify } from 'yaml';
import { clusterId, clustersOfKubeconfig, embeddedClusters } from '#infra/local/clusters/cluster-source.ts';
import { connectionFiles } from '#infra/local/clusters/connection-files.ts';
import { refuseOverlap } from '#infra/local/clusters/pod-ranges.ts';

it.each([
  ['dev', 'dev'],
  ['kubernetes-admin@Prod.Example', 'kubernetes-admin-prod-example'],
  [
    'arn:aws:eks:eu-west-1:123456789012:cluster/a-rather-long-name-for-a-cluster',
    'arn-aws-eks-eu-west-1-123456789012-cluster-a-rather-long-name-f',
  ],
  ['--', 'cluster'],
])('makes a cluster id of the context %s', (context, id) => {
  expect(clusterId(context)).toBe(id);
  expect(id).toMatch(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/);
});

it('numbers embedded clusters, and gives each pods addresses of its own', () => {
  const { ids, podRanges } = embeddedClusters(50, { imports: 'off', exports: [] });
  expect(ids.slice(0, 2)).toEqual(['demo-1', 'demo-2']);
  expect(podRanges['demo-2']).toEqual(['10.243.0.0/16', 'fd00:243::/64']);
  expect(() => refuseOverlap(podRanges)).not.toThrow();
});

it('two clusters whose nodes give pods the same addresses are refused, with the two ranges', () => {
  const ranges = { a: ['10.1.0.0/24', 'fd00:1::/64'], b: ['10.2.0.0/16', '10.1.0.0/16'], c: [] };
  expect(() => refuseOverlap(ranges)).toThrow(
    'pods of a and b share addresses: nodes have the ranges 10.1.0.0/24 and 10.1.0.0/16.',
  );
  expect(() => refuseOverlap({ a: ['10.1.0.0/24', '10.1.0.0/25'], b: ['10.1.1.0/24'] })).not.toThrow();
});

it('each context of a kubeconfig is a cluster; contexts that would be one cluster are refused', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'fleet-endpoints-test-'));
  const file = join(dir, 'kubeconfig');
  const servers = {
    one: 'https://one:6443',
    'one-too': 'https://ONE:6443/',
    two: 'https://two:6443',
    'Two!': 'https://three',
  };
  const names = Object.entries(servers);
  const config = {
    clusters: names.map(([name, server]) => ({ name, cluster: { server } })),
    users: [{ name: 'u', user: { token: 'secret' } }],
    contexts: names.map(([name]) => ({ name, context: { cluster: name, user: 'u' } })),
  };
  await writeFile(file, stringify(config));
  const source = (...contexts: readonly string[]) => clustersOfKubeconfig({ file, contexts });
  const { ids, connect } = await source('one', 'two');
  expect(ids).toEqual(['one', 'two']);
  const connections = await connect(() => {
    throw new Error('nothing is started');
  });
  expect(Object.values(connections).map((c) => c.server)).toEqual(['https://one:6443', 'https://two:6443']);
  await expect(source('one', 'one-too')).rejects.toThrow(
    '--context one and --context one-too are one cluster: both have the server https://one:6443',
  );
  await expect(source('two', 'Two!')).rejects.toThrow(
    '--context two and --context Two! would both be cluster two: rename one of them',
  );
  await expect(source('one', 'three')).rejects.toThrow(
    /has no context three; it has one, one-too, two, Two!$/,
  );
  await rm(dir, { recursive: true });
});

it('writes credentials so that only their owner can read them', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'fleet-endpoints-test-'));
  const files = connectionFiles(dir);
  await files.write({ a: { server: 'https://a' }, b: { server: 'https://b', token: 'old' } });
  await files.write({ a: { server: 'https://a' }, b: { server: 'https://b', token: 'new' } });
  expect(JSON.parse(await readFile(files.of('b'), 'utf8'))).toEqual({ server: 'https://b', token: 'new' });
  expect(JSON.parse(await readFile(files.all, 'utf8'))).toEqual({
    a: { server: 'https://a' },
    b: { server: 'https://b', token: 'new' },
  });
  for (const file of [files.all, files.of('a')]) expect((await stat(file)).mode & 0o777).toBe(0o600);
  await rm(dir, { recursive: true });
});
