import { describe, expect, it } from 'vitest';
import { explainService } from '#infra/cli/ask/explain/explain.ts';
import type { ExplainInput } from '#infra/cli/ask/explain/input.ts';
import { writerFacts } from '#infra/cli/ask/explain/writer-facts.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { annotationSelector, labelSliceManagedBy, optInManagedBy } from '#shared/kube/names.ts';
import type { Service } from '#shared/kube/types.ts';
import { idlePart, noWork } from '#test/support/absent-records.ts';
import { endpoint, pod, service, slice } from '#test/unit/shared/controllers/slices/fixtures.ts';
import { clusterRecord, factsOf, input, onlyPod } from './fixtures.ts';

function annotated(text: string, spec: object = { selector: undefined }): Service {
  const plain = service(spec);
  return { ...plain, metadata: { ...plain.metadata, annotations: { [annotationSelector]: text } } };
}
const optedIn = annotated('app=a');
const inCluster = (more: Partial<ClusterRecord>): ClusterRecord => clusterRecord(more);
const writer = (s: Service, more: Partial<ClusterRecord>): string => {
  const { name, why } = writerFacts(s, inCluster(more));
  return `${name} | ${why}`;
};

describe('who writes the endpoints of a service', () => {
  const off = { controllers: [] };
  it.each<[string, Service, Partial<ClusterRecord>, RegExp]>([
    [
      'an active cluster',
      service(),
      { mode: 'active' },
      /^fleet-endpoints \| the Service has a selector, and the cluster is active/,
    ],
    ['a shadow cluster', service(), { mode: 'shadow' }, /^the built-in controllers \| .*the hub compares$/],
    [
      'a paused cluster',
      service(),
      { mode: 'paused' },
      /^the built-in controllers, where they are on \| .*the cluster is paused$/,
    ],
    ['a cluster in conflict', service(), { mode: 'active', writerConflict: true }, /^another writer \| /],
    [
      'a cluster with both off',
      service(),
      { mode: 'active', settings: { ...clusterRecord().settings, ...off } },
      /^the built-in controllers \| .*settings$/,
    ],
    [
      'a cluster with slices alone',
      service(),
      { settings: { ...clusterRecord().settings, controllers: ['slices'] } },
      /^fleet-endpoints \(slices alone\) \| /,
    ],
    [
      'both selectors',
      annotated('app=b', {}),
      { mode: 'shadow', optIn: 'active' },
      /^the built-in controllers \| .*does not count yet/,
    ],
    [
      'opt-in',
      optedIn,
      { mode: 'shadow', optIn: 'active' },
      /^fleet-endpoints, opt-in \| .*beside the built-in controllers, and no Endpoints$/,
    ],
    [
      'opt-in, tried',
      optedIn,
      { mode: 'active', optIn: 'shadow' },
      /^no writer: preview \| .*the hub only shows its writes$/,
    ],
    [
      'opt-in, off',
      optedIn,
      { mode: 'shadow', optIn: 'off' },
      /^no writer: opt-in is off \| .*stay as they are$/,
    ],
    [
      'opt-in, paused',
      optedIn,
      { mode: 'paused', optIn: 'active' },
      /^no writer: paused \| .*stay as they are$/,
    ],
    ['opt-in, conflicting', optedIn, { optIn: 'active', writerConflict: true }, /^another writer \| /],
    [
      'an invalid annotation',
      annotated('a in (b'),
      { optIn: 'active' },
      /^no writer: invalid annotation \| .*found '', expected: ',' or '\)'.*stay as they are$/,
    ],
    [
      'neither',
      service({ selector: undefined }),
      { optIn: 'active' },
      /^no selector \| .*by hand or by another controller$/,
    ],
    [
      'an ExternalName',
      annotated('app=a', { type: 'ExternalName', selector: undefined }),
      {},
      /^no writer \| .*ExternalName/,
    ],
  ])('the writer is shown with the reason of %s', (_, s, more, text) => {
    expect(writer(s, more)).toMatch(text);
  });
});

it('the endpoints of default/kubernetes are shown as the API server’s own', () => {
  const plain = service({ selector: undefined });
  const own = { ...plain, metadata: { ...plain.metadata, namespace: 'default', name: 'kubernetes' } };
  expect(writer(own, { mode: 'shadow', optIn: 'active' })).toMatch(/^the API server \| /);
});

describe('a service that opts in', () => {
  const beside = clusterRecord({ mode: 'shadow', optIn: 'active' });
  const done = { ...idlePart, doneGeneration: 1 };
  const work = { ...noWork, generation: 1, parts: { endpoints: done, slices: done } };
  const ours = { ...slice('foo-1', [endpoint(1)]) };
  const saved = {
    endpoints: undefined,
    slices: [
      {
        ...ours,
        metadata: {
          ...ours.metadata,
          labels: { ...ours.metadata.labels, [labelSliceManagedBy]: optInManagedBy },
        },
      },
    ],
  };
  const explained = (more: Partial<Omit<ExplainInput, 'pods'>>) =>
    explainService(input({ service: optedIn, work, ...more }));

  it('a service that opts in is explained by the pods of its annotation', () => {
    const explanation = explained({ cluster: beside, saved });
    expect(explanation.summary).toBe('Reachable: 1 of 1 pod can be reached; everything is written.');
    expect(factsOf(explanation, 'Service')).toMatchObject({
      Writer: 'fleet-endpoints, opt-in',
      Selector: `app=a (annotation ${annotationSelector})`,
    });
    expect(factsOf(explanation, 'Cluster')['Opt-in']).toBe('active');
    expect(factsOf(explanation, 'Saved')['Slices']).toBe('1 with 1 endpoints, of opt-in.fleet-endpoints');
    const { endpoints, slices } = onlyPod(explanation);
    expect(endpoints).toEqual({
      place: 'absent',
      reason: 'OptIn',
      why: 'a Service that opts in gets no Endpoints',
      addresses: [],
    });
    expect(slices[0]).toMatchObject({ place: 'ready', addresses: ['10.1.0.2'] });
    expect(slices[0]?.pending).toBeUndefined();
  });

  it('a service that opts in is shown with its unwritten slices', () => {
    expect(onlyPod(explained({ cluster: beside })).slices[0]?.pending).toBe('as saved it is not listed yet');
    expect(explained({ cluster: beside, work: { ...work, generation: 2 } }).summary).toMatch(
      /a run is pending\.$/,
    );
  });

  it.each(['shadow', 'active'] as const)(
    'a service that opts in is shown with what would be written where its cluster only tries, in mode %s',
    (mode) => {
      const difference = { text: '["EndpointSlices: would be written: x"]', sinceMs: 1, confirmed: false };
      const explanation = explained({ cluster: clusterRecord({ mode, optIn: 'shadow' }), difference });
      expect(explanation.summary).toMatch(
        /nothing is written: .*the cluster’s switch for opt-in is shadow: the hub only shows its writes\.$/,
      );
      expect([explanation.differencesTitle, explanation.differences]).toEqual([
        'Preview',
        ['EndpointSlices: would be written: x'],
      ]);
      expect(onlyPod(explanation).slices[0]?.pending).toBeUndefined();
      const off = explained({ cluster: clusterRecord({ mode: 'active', optIn: 'off' }), difference });
      expect([off.summary, off.differences]).toEqual([
        expect.stringMatching(/switch for opt-in is off: its slices stay as they are\.$/),
        [],
      ]);
    },
  );

  it('a service that opts in is not explained by the slices of the writer before', () => {
    const theirs = slice('foo-2', [endpoint(1, { conditions: { ready: false } })]);
    const both = { ...saved, slices: [...saved.slices, theirs] };
    expect(onlyPod(explained({ cluster: beside, saved: both })).slices[0]?.pending).toBeUndefined();
    const back = explained({ cluster: beside, saved: both, service: annotated('app=a', {}) });
    expect(onlyPod(back).slices[0]?.pending).toBe('listed (not ready) by the cluster’s own controller');
    expect(factsOf(back, 'Saved')['Slices']).toBe(
      '2 with 2 endpoints, of opt-in.fleet-endpoints and endpointslice-controller.k8s.io',
    );
  });

  it('a service is explained by the error of its annotation', () => {
    const explanation = explained({ cluster: beside, saved, service: annotated('app=a=b') });
    expect(explanation.summary).toMatch(
      /^Reachable: 1 address is served; its slices stay as they are: the annotation fleet-endpoints\/selector is invalid: found '=', expected: ',' or 'end of string'\.$/,
    );
    expect(
      onlyPod({ ...explanation, pods: explanation.pods.filter((p) => p.pod === pod(1).metadata.name) })
        .relation,
    ).toBe('left');
  });
});
