import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { clusterId, embeddedClusters } from '#infra/local/cluster-source.ts';
import { connectionFiles } from '#infra/local/connection-files.ts';

it.each([
  ['dev', 'dev'],
  ['kubernetes-admin@Prod.Example', 'kubernetes-admin-prod-example'],
  ['arn:aws:eks:eu-west-1:123456789012:cluster/a-rather-long-name-for-a-cluster', 'arn-aws-eks-eu-west-1-123456789012-cluster-a-rather-long-name-f'],
  ['--', 'cluster'],
])('makes a cluster id of the context %s', (context, id) => {
  expect(clusterId(context)).toBe(id);
  expect(id).toMatch(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/);
});

it('numbers embedded clusters', () => {
  expect(embeddedClusters(2).ids).toEqual(['demo-1', 'demo-2']);
});

it('writes credentials so that only their owner can read them', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'fleet-endpoints-test-'));
  const files = connectionFiles(dir);
  await files.write({ a: { server: 'https://a' }, b: { server: 'https://b', token: 'old' } });
  await files.write({ a: { server: 'https://a' }, b: { server: 'https://b', token: 'new' } });
  expect(JSON.parse(await readFile(files.of('b'), 'utf8'))).toEqual({ server: 'https://b', token: 'new' });
  expect(JSON.parse(await readFile(files.all, 'utf8'))).toEqual({ a: { server: 'https://a' }, b: { server: 'https://b', token: 'new' } });
  for (const file of [files.all, files.of('a')]) expect((await stat(file)).mode & 0o777).toBe(0o600);
  await rm(dir, { recursive: true });
});
