/**
 * docs/operate/gitops.md: its values file is one that the command prints and the chart takes, and its manifests name
 * this chart.
 */
import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { chartValues } from '#infra/relay/chart-values.ts';
import { criticalPriority } from '#infra/relay/pod.ts';

const blocks = [...readFileSync('docs/operate/gitops.md', 'utf8').matchAll(/```yaml\n([\s\S]*?)```/g)].map(
  ([, text = '']) => text,
);
const [values = '', ...manifests] = blocks;
// biome-ignore lint/suspicious/noExplicitAny: Kubernetes objects, asserted on by path
const objects: any[] = manifests.flatMap((text) => parseAllDocuments(text).map((d) => d.toJS()));
const chart = parse(readFileSync('infra/relay/chart-parts/Chart.yaml', 'utf8')) as {
  readonly name: string;
  readonly version: string;
};
const of = (kind: string) => objects.find((object) => object.kind === kind);

it('the values are allowed by the chart’s schema, and are those that the command prints', () => {
  const own = parse(values);
  const validate = new Ajv().compile(
    JSON.parse(readFileSync('infra/relay/chart-parts/values.schema.json', 'utf8')),
  );
  expect(validate(own), JSON.stringify(validate.errors)).toBe(true);
  const { cluster, namespace, eventsQueueUrl, region, image } = own;
  const printed = chartValues({
    ...{ cluster, namespace, eventsQueueUrl, region, program: { image } },
    ...{ outputs: 'full', resyncSeconds: '1800', replicas: 2, priorityClassName: criticalPriority },
  });
  expect(own).toEqual(printed);
});

it('Argo CD and Flux install this chart in its version, with the values file of the command', () => {
  const command = /relay values \S+ .* > (\S+)/.exec(readFileSync('docs/operate/gitops.md', 'utf8'))?.[1];
  const [source] = of('Application').spec.sources;
  expect(source).toMatchObject({
    chart: chart.name,
    targetRevision: chart.version,
    helm: { valueFiles: [`$values/${command}`] },
  });
  const repository = of('OCIRepository');
  expect(repository.spec).toMatchObject({
    url: expect.stringMatching(new RegExp(`/${chart.name}$`)),
    ref: { tag: chart.version },
  });
  const release = of('HelmRelease').spec;
  expect(release.chartRef).toEqual({ kind: 'OCIRepository', name: repository.metadata.name });
  const [generated] = of('Kustomization').configMapGenerator;
  expect(release.valuesFrom).toEqual([{ kind: 'ConfigMap', name: generated.name }]);
  expect(generated.files).toEqual([`values.yaml=${command?.split('/').at(-1)}`]);
});
