/**
 * clusters.yaml configures sets of clusters. The resources of a cluster outside of every set do not change by
 * it.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { registrationRecord } from '#infra/aws/stages/registration-record.ts';
import { membershipOf } from '#infra/clusterset/config/clusterset-rules.ts';
import { parseConfig } from '#infra/config/load-config.ts';
import { noMembership } from '#shared/clusterset/contract/clusterset-settings.ts';
import { authorityData } from '#test/infra/clusters-file.ts';

const relay = 'relay: { identity: { type: pod-identity, clusterName: c } }';
const set = 'hub: { clusterset: { name: prod } }';
const file = (hub: string, ...clusters: readonly string[]): string =>
  `${hub}\nclusters:\n${clusters.map((c) => `  - { ${c}, ${relay} }`).join('\n')}`;
const api = `api: { url: "https://a.example.com", ca: "${authorityData}", auth: { type: eks, clusterName: a } }`;
const exporting = (id: string, podCidrs: string, more = ''): string =>
  `id: ${id}, exports: { namespaces: [web], podCidrs: [${podCidrs}]${more} }, ${api}`;

const withoutApi =
  'exports has namespaces, but there is no api, which the hub asks before it withdraws endpoints: namespaces: [] is allowed without one';

const problems = (yaml: string): string => {
  try {
    parseConfig('clusters.yaml', yaml);
  } catch (e) {
    return (e as Error).message;
  }
  return '';
};

describe('imports and exports in the clusters file', () => {
  it('a set has defaults for all but its name, and a cluster takes no part by default', () => {
    const { hub, clusters } = parseConfig('clusters.yaml', file(set, 'id: a'));
    expect(hub.clusterset).toEqual({
      name: 'prod',
      sameness: 'labelled',
    });
    expect(clusters[0]).toMatchObject({ imports: 'off' });
    expect(membershipOf(clusters[0]!, hub.clusterset)).toBeUndefined();
  });

  it('the registered membership of a cluster equals its record', () => {
    const { hub, clusters } = parseConfig(
      'clusters.yaml',
      file(
        set,
        `id: a, imports: active, ${api}`,
        exporting('b', '10.20.0.0/16, "fd00:20::/56"'),
        `id: c, exports: { namespaces: all, podCidrs: [10.30.0.0/16] }, ${api}`,
      ),
    );
    const [a, b, c] = clusters.map((cluster) => membershipOf(cluster, hub.clusterset));
    const prod = { ...noMembership, set: 'prod' };
    expect(a).toEqual({ ...prod, imports: 'active' });
    expect(b).toEqual({
      ...prod,
      exports: { namespaces: ['web'], podCidrs: ['10.20.0.0/16', 'fd00:20::/56'] },
    });
    expect(c).toEqual({ ...prod, exports: { namespaces: 'all', podCidrs: ['10.30.0.0/16'] } });
  });

  it('a cluster registers its region, and each cluster of a set has one or none has', () => {
    const region = 'region: eu-central-1';
    const { hub, clusters } = parseConfig(
      'clusters.yaml',
      file(set, `id: a, imports: shadow, ${region}`, 'id: b'),
    );
    expect(membershipOf(clusters[0]!, hub.clusterset)).toEqual({
      ...noMembership,
      set: 'prod',
      imports: 'shadow',
      region: 'eu-central-1',
    });
    expect(problems(file(set, `id: a, imports: shadow, ${region}`, 'id: b, imports: shadow'))).toContain(
      'b: a region is needed, because other clusters of the set have one',
    );
  });

  it('the registration of a cluster that takes no part has no word of the set', () => {
    const { hub, clusters } = parseConfig('clusters.yaml', file(set, 'id: a', `id: b, imports: shadow`));
    const queues = {
      urls: { events: '', syncs: '', parked: '', quarantine: '' },
      eventsArn: '',
      syncsArn: '',
    };
    const [a, b] = clusters.map((cluster) => registrationRecord(cluster, hub, queues));
    expect(a).not.toHaveProperty('clusterset');
    expect(b).toMatchObject({ clusterset: { set: 'prod', imports: 'shadow' } });
  });

  it('the clusters file of docs/use/clusterset.md has two clusters that export to each other and preview imports', () => {
    const [yaml = ''] =
      readFileSync('docs/use/clusterset.md', 'utf8').match(/(?<=```yaml\n)hub:\n {2}name:[\s\S]*?(?=```)/) ??
      [];
    const { hub, clusters } = parseConfig('docs/use/clusterset.md', yaml.replaceAll('LS0t…', authorityData));
    expect(clusters.map((cluster) => membershipOf(cluster, hub.clusterset))).toMatchObject(
      ['10.10.0.0/16', '10.20.0.0/16'].map((range) => ({
        set: 'prod',
        imports: 'shadow',
        exports: { namespaces: ['web'], podCidrs: [range] },
      })),
    );
  });

  it('imports are allowed on EKS, whose own controllers write other objects', () => {
    expect(problems(file(set, `id: a, imports: active, ${api}`))).toBe('');
  });

  it('a cluster that exports no namespace yet needs no API', () => {
    expect(problems(file(set, 'id: a, exports: { namespaces: [], podCidrs: [10.20.0.0/16] }'))).toBe('');
  });

  it('overlapping ranges of pods are allowed if both clusters allow it', () => {
    const both = (a: string, b: string): string =>
      problems(file(set, exporting('a', '10.20.0.0/16', a), exporting('b', '10.20.128.0/17', b)));
    const allowed = ', allowOverlap: true';
    expect(both(allowed, allowed)).toBe('');
    expect(both(allowed, '')).toMatch(/overlap/);
  });

  it.each([
    [
      'exports without a set',
      file('hub: {}', exporting('a', '10.20.0.0/16')),
      'a has exports, but the hub has no set: hub.clusterset: { name: NAME } is needed',
    ],
    [
      'imports without a set',
      file('hub: {}', 'id: a, imports: shadow'),
      'a has imports: shadow, but the hub has no set',
    ],
    ['a set without a name', file('hub: { clusterset: {} }'), 'hub.clusterset: name is missing'],
    [
      'a set of a name that is no label',
      file('hub: { clusterset: { name: Prod } }'),
      'hub.clusterset.name: "Prod" is not 1 to 63 of a-z',
    ],
    [
      'a knob that a set does not have',
      file('hub: { clusterset: { name: a, precedence: oldest } }'),
      'hub.clusterset: unknown key "precedence": name, evictAfterSeconds, sameness are allowed',
    ],
    [
      'an eviction too soon',
      file('hub: { clusterset: { name: a, evictAfterSeconds: 30 } }'),
      '30: a whole number from 60 to 604800 is needed',
    ],
    [
      'imports without an API',
      file(set, 'id: a, imports: active'),
      'imports is active, but there is no api to write to: off and shadow are allowed without one',
    ],
    [
      'exports without an API',
      file(set, 'id: a, exports: { namespaces: [web], podCidrs: [10.20.0.0/16] }'),
      withoutApi,
    ],
    [
      'exports of all without an API',
      file(set, 'id: a, exports: { namespaces: all, podCidrs: [10.20.0.0/16] }'),
      withoutApi,
    ],
    [
      'imports that are none',
      file(set, 'id: a, imports: on'),
      'imports: "on" is not one of off, shadow, active',
    ],
    [
      'exports without ranges',
      file(set, 'id: a, exports: { namespaces: [web] }'),
      'clusters[0].exports: podCidrs is missing',
    ],
    [
      'exports with no range',
      file(set, 'id: a, exports: { namespaces: [web], podCidrs: [] }'),
      '0 ranges are given: 1 to 16 are allowed',
    ],
    [
      'an address for a range',
      file(set, exporting('a', '10.20.0.0')),
      '"10.20.0.0" is not a range of addresses, such as 10.20.0.0/16',
    ],
    [
      'bits behind the prefix',
      file(set, exporting('a', '10.20.1.0/16')),
      '"10.20.1.0/16" is not a range of addresses',
    ],
    [
      'a range of everything',
      file(set, exporting('a', '0.0.0.0/0')),
      '"0.0.0.0/0" is not a range of addresses',
    ],
    [
      'namespaces that are a word',
      file(set, 'id: a, exports: { namespaces: web, podCidrs: [10.20.0.0/16] }'),
      '"web": a list, or all, is needed',
    ],
    [
      'a namespace of no such name',
      file(set, 'id: a, exports: { namespaces: [Web], podCidrs: [10.20.0.0/16] }'),
      '"Web" is not the name of a namespace',
    ],
    [
      'a namespace that is never exported',
      file(set, 'id: a, exports: { namespaces: [web, kube-system], podCidrs: [10.20.0.0/16] }'),
      'kube-system: never exported',
    ],
    [
      'the namespace of the relay',
      `${set}\nclusters:\n  - { id: a, exports: { namespaces: [relay], podCidrs: [10.20.0.0/16] }, relay: { namespace: relay, identity: { type: pod-identity, clusterName: c } } }`,
      'exports.namespaces has "relay", the relay\'s own namespace, which is never exported',
    ],
    [
      'ranges of two clusters that overlap',
      file(set, exporting('a', '10.20.0.0/16'), exporting('b', '10.30.0.0/16, 10.20.128.0/17')),
      'exports.podCidrs of a and of b overlap: 10.20.0.0/16 and 10.20.128.0/17. An importer could not tell whose pod an address is: give each its own ranges, or both allowOverlap: true',
    ],
  ])('%s are refused with the allowed values', (_, yaml, said) => {
    expect(problems(yaml)).toContain(said);
  });
});
