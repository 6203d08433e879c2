import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { manifestText } from '#infra/cli/act/relay-install.ts';
import { relayManifest } from '#infra/relay/manifest.ts';
import type { ClustersetTasks } from '#infra/relay/set-tasks.ts';
import { authorityData } from '#test/infra/clusters-file.ts';

const relay = 'relay: { identity: { type: pod-identity, clusterName: c } }';
const api = `api: { url: "https://a.example.com", ca: "${authorityData}", auth: { type: eks, clusterName: a } }`;
const values = {
  queueUrl: 'https://sqs.eu-central-1.amazonaws.com/111122223333/events',
  outputs: 'none',
  image: 'registry.example.com/relay',
};

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'relay-install-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function manifestOf(id: string, ...clusters: readonly string[]): object[] {
  const file = join(folder, 'clusters.yaml');
  writeFileSync(
    file,
    [
      'hub: { clusterset: { name: prod } }',
      'clusters:',
      ...clusters.map((c) => `  - { ${c}, ${relay} }`),
    ].join('\n'),
  );
  return parseAllDocuments(manifestText(id, { ...values, clusters: file })).map((d) => d.toJS() as object);
}
const withTasks = (cluster: string, clusterset?: ClustersetTasks): readonly object[] =>
  relayManifest({
    cluster,
    namespace: 'fleet-endpoints',
    eventsQueueUrl: values.queueUrl,
    region: 'eu-central-1',
    outputs: 'full',
    replicas: 2,
    resyncSeconds: '1800',
    program: { image: values.image },
    ...(clusterset && { clusterset }),
  });

describe('the manifest of a relay by the clusters file', () => {
  const exporter = (id: string, ...cidrs: readonly string[]): string =>
    `id: ${id}, exports: { namespaces: [web], podCidrs: [${cidrs}] }, ${api}`;
  const clusters = [
    `id: a, imports: shadow, ${api}`,
    exporter('c', '10.3.0.0/16'),
    exporter('b', '10.2.0.0/16', '"fd00:2::/48"'),
    'id: d',
  ];

  it('the writer of an importer is restricted to the ranges of every exporting cluster, in any order', () => {
    const sources = { b: ['10.2.0.0/16', 'fd00:2::/48'], c: ['10.3.0.0/16'] };
    expect(manifestOf('a', ...clusters)).toEqual(
      withTasks('a', { imports: { cluster: 'a', set: 'prod', sameness: 'labelled', sources } }),
    );
    expect(manifestOf('a', ...clusters.toReversed())).toEqual(manifestOf('a', ...clusters));
  });

  it('the writer of a cluster that only exports writes no imports, and that of a cluster beside the set nothing of it', () => {
    expect(manifestOf('b', ...clusters)).toEqual(withTasks('b', {}));
    expect(manifestOf('d', ...clusters)).toEqual(withTasks('d'));
  });

  it('the editors of a cluster may export if its exports allow it', () => {
    const editable = `id: b, exports: { namespaces: [web], podCidrs: [10.2.0.0/16], editorsMayExport: true }, ${api}`;
    expect(manifestOf('b', editable)).toEqual(withTasks('b', { editorsMayExport: true }));
  });
});
