/** Proves which findings follow from the live objects of a cluster, and that the answer fits its schema. */
import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, it } from 'vitest';
import { explainService } from '#infra/cli/ask/explain/explain.ts';
import { checkLines, type OptInCheck } from '#infra/cli/ask/opt-in/opt-in-check.ts';
import { optInFindings } from '#infra/cli/ask/opt-in/opt-in-findings.ts';
import { type LiveService, liveFindings, readLive } from '#infra/cli/ask/opt-in/opt-in-live.ts';
import { type OptInFinding, optInCodes, optInVerdicts } from '#infra/cli/ask/opt-in/opt-in-point.ts';
import type { ClusterReader } from '#infra/cli/ask/readiness/cluster-reader.ts';
import { labelZone, labelZoneId } from '#shared/kube/names.ts';
import type { Endpoints } from '#shared/kube/types.ts';
import { clusterRecord, input } from '#test/unit/infra/cli/ask/explain/fixtures.ts';
import { managed, pod, service, slice } from '#test/unit/shared/controllers/slices/fixtures.ts';

const live = (more: Partial<LiveService> = {}): LiveService => ({
  ...{
    from: 'kubectl',
    service: service(),
    pods: [pod(1), pod(2)],
    endpoints: undefined,
    slices: [],
    bindings: [],
  },
  ...more,
});
const found = (code: OptInFinding['code'], more: Partial<LiveService>, cleanup = true) =>
  liveFindings(live(more), cleanup).find((f) => f.code === code);

const gated = (gate: string) => pod(3, { spec: { readinessGates: [{ conditionType: gate }] } });

it.each([
  ['target-health.elbv2.k8s.aws/k8s-shop-web-0', 'applies'],
  ['cloud.google.com/load-balancer-neg-ready', 'applies'],
  ['example.com/warmed-up', 'fine'],
])('the readiness gate %s: %s', (gate, verdict) => {
  expect(found('ReadinessGates', { pods: [pod(1), gated(gate)] })).toMatchObject({ verdict });
});

it('the number of pods with a gate is in the message, with the gate', () => {
  const { message } = found('ReadinessGates', {
    pods: [pod(1), gated('target-health.x/a'), pod(2)],
  }) as OptInFinding;
  expect(message).toMatch(/^1 of 3 pods have target-health\.x\/a; /);
});

it.each([
  [[], 'no TargetGroupBinding names the Service', 'fine'],
  [['k8s-web'], 'TargetGroupBinding k8s-web takes its targets from the slices', 'fine'],
  [{ error: 'forbidden' }, 'TargetGroupBindings were not read: forbidden', 'unknown'],
])('load balancers %j', (bindings, message, verdict) => {
  expect(found('LoadBalancer', { bindings })).toMatchObject({ message, verdict });
});

const setBy = (...managers: readonly string[]) => ({
  managedFields: managers.map((manager) => ({
    manager,
    operation: 'Apply',
    fieldsV1: { 'f:spec': { 'f:selector': {} } },
  })),
});

it('managers that set the selector again are named, kubectl is none of them', () => {
  const metadata = (more: object) => service({}, more as never);
  expect(found('SelectorOwner', { service: metadata(setBy('kubectl-client-side-apply')) })?.verdict).toBe(
    'fine',
  );
  expect(
    found('SelectorOwner', { service: metadata(setBy('argocd-controller', 'kubectl', 'helm')) }),
  ).toMatchObject({
    verdict: 'applies',
    message: 'argocd-controller, helm sets the selector',
  });
});

const endpoints = (more: object): Endpoints => ({
  apiVersion: 'v1',
  kind: 'Endpoints',
  metadata: { name: 'foo', namespace: 'ns', ...more },
});

it('objects of other controllers stay beside the hub’s slices, those of the built-in controllers only without cleanup', () => {
  const builtIn = {
    managedFields: [{ manager: 'kube-controller-manager', fieldsV1: { 'f:endpoints': {} } }],
  };
  const theirs = slice('foo-1', [], { metadata: { labels: managed, ...builtIn } as never });
  const other = slice('foo-mesh', [], {
    metadata: { labels: { ...managed, 'endpointslice.kubernetes.io/managed-by': 'mesh.example' } },
  });
  expect(found('OtherWriters', { slices: [theirs] })).toMatchObject({ verdict: 'fine' });
  expect(found('OtherWriters', { slices: [theirs] }, false)).toMatchObject({
    verdict: 'applies',
    remedy: expect.stringContaining('optInCleanup'),
  });
  expect(
    found('OtherWriters', {
      slices: [theirs, other],
      endpoints: endpoints({ managedFields: [{ manager: 'patroni' }] }),
    }),
  ).toMatchObject({
    verdict: 'applies',
    message: "Endpoints foo, EndpointSlice foo-mesh stays, and is served beside the hub's slices",
  });
});

it('only TargetGroupBindings of the Service count, and a refused list leaves the others known', async () => {
  const binding = (name: string, of: string) => ({ metadata: { name }, spec: { serviceRef: { name: of } } });
  const reader = (bindings: () => unknown): ClusterReader => ({
    ...{ name: 'kubectl', close: () => {} },
    async get(path) {
      if (path.includes('targetgroupbindings')) return bindings();
      if (path.includes('/pods?'))
        return {
          items: path === '/api/v1/namespaces/ns/pods?labelSelector=app%3Da&limit=500' ? [pod(1)] : [],
        };
      return path.endsWith('/services/foo') ? service() : undefined;
    },
  });
  const items = [binding('a', 'foo'), binding('b', 'other')];
  expect(
    await readLive(
      reader(() => ({ items })),
      'ns',
      'foo',
      { app: 'a' },
    ),
  ).toMatchObject({ bindings: ['a'], pods: [{}], slices: [] });
  const refused = reader(() => {
    throw new Error('forbidden');
  });
  expect(await readLive(refused, 'ns', 'foo', { app: 'a' })).toMatchObject({
    bindings: { error: 'forbidden' },
    pods: [{}],
  });
});

const findings = (spec: object, told: LiveService | string = live()) => {
  const given = input({ service: service(spec as never) });
  return optInFindings(given, explainService(given), told);
};

it('a headless Service keeps its families, and gets both when it is created again', () => {
  const [headless] = findings({ clusterIP: 'None', ipFamilies: ['IPv4'] }).filter(
    (f) => f.code === 'Headless',
  );
  expect(headless).toMatchObject({
    verdict: 'applies',
    message: expect.stringMatching(/^headless, IPv4: .*dual-stack/),
  });
  expect(findings({}).find((f) => f.code === 'Headless')).toMatchObject({ verdict: 'fine' });
});

it('a Service that is exported is told so: its imports follow the annotation too', () => {
  const exported = input({ set: { exportSummary: 'Exported, imported by a.' } as never });
  const codeOf = (given: typeof exported) =>
    optInFindings(given, explainService(given), live()).find((f) => f.code === 'Exported');
  expect(codeOf(exported)).toMatchObject({
    verdict: 'applies',
    message: expect.stringContaining('imports follow the annotation'),
  });
  expect(codeOf(input())).toMatchObject({ verdict: 'fine' });
});

it.each([
  ['read', 'follow', 'fine'],
  ['off', 'follow', 'fine'],
  ['denied', 'follow', 'blocks'],
  ['unreachable', 'follow', 'unknown'],
  ['read', 'ignore', 'applies'],
] as const)('zonal shifts of EKS that are %s, with %s: %s', (state, zonalShift, verdict) => {
  const record = clusterRecord({ mode: 'shadow' });
  const given = input({
    cluster: {
      ...record,
      api: { url: 'https://eks.example', auth: { type: 'eks', clusterName: 'shop' } },
      settings: { ...record.settings, zonalShift },
      zones: { ...record.zones, reading: { state, sinceMs: 1 } },
    },
    nodes: new Map(),
  });
  const codes = optInFindings(given, explainService(given), live());
  expect(codes.find((f) => f.code === 'ZonalShift')?.verdict).toBe(verdict);
  expect(findings({}).some((f) => f.code === 'ZonalShift')).toBe(false);
});

it.each([
  ['euc1-az2', 'fine'],
  [undefined, 'blocks'],
] as const)('a shift is followed by the ids of the nodes’ zones, here %s: %s', (zoneId, verdict) => {
  const record = clusterRecord({ mode: 'shadow' });
  const labels = { [labelZone]: 'eu-central-1a', ...(zoneId && { [labelZoneId]: zoneId }) };
  const given = input({
    cluster: {
      ...record,
      api: { url: 'https://eks.example', auth: { type: 'eks', clusterName: 'shop' } },
      zones: { ...record.zones, reading: { state: 'read', sinceMs: 1 } },
    },
    nodes: new Map([['n', { metadata: { name: 'n', uid: 'n', labels } }]]),
  });
  const codes = optInFindings(given, explainService(given), live());
  expect(codes.find((f) => f.code === 'ZonalShift')?.verdict).toBe(verdict);
});

it('a Service that differs blocks in one sentence, and explain has the differences', () => {
  const differing = input({
    cluster: clusterRecord({ mode: 'shadow' }),
    difference: { text: '["first", "second"]', sinceMs: 1, confirmed: true },
  });
  const [state] = optInFindings(differing, explainService(differing), live()).filter(
    (f) => f.code === 'State',
  );
  expect(state).toMatchObject({
    verdict: 'blocks',
    message: expect.stringMatching(/wrote something different\.$/),
    remedy: expect.stringContaining('explain'),
  });
});

it('a selector that does not fit the annotation blocks without a command', () => {
  const selector = Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`k${i}`, 'v']));
  expect(findings({ selector }).find((f) => f.code === 'Annotation')).toMatchObject({
    verdict: 'blocks',
    message: expect.stringContaining('17 requirements'),
    remedy: null,
  });
});

it('the data follow the schema in the package, which has every code and verdict', () => {
  const schema = JSON.parse(readFileSync('docs/reference/schemas/opt-in-check.schema.json', 'utf8'));
  const item = schema.properties.findings.items.properties;
  expect(item.code.enum).toEqual(optInCodes);
  expect(item.verdict.enum).toEqual(optInVerdicts);
  const validate = new Ajv2020({ formats: { 'date-time': true }, allowUnionTypes: true }).compile(schema);
  const check: OptInCheck = {
    ...{
      apiVersion: 'fleet-endpoints/v1',
      kind: 'OptInCheck',
      cluster: 'a',
      namespace: 'ns',
      service: 'foo',
      time: '2026-03-01T10:00:00.000Z',
    },
    ...{
      hasSelector: true,
      allowed: false,
      message: 'keep the selector',
      findings: findings({}, 'kubectl is not in PATH'),
      next: null,
    },
  };
  validate(check);
  expect(validate.errors).toBeNull();
  const verdicts = checkLines(check).flatMap(
    (line) =>
      /^ {2}(ok|applies|BLOCKS|unknown) /.exec(typeof line === 'string' ? line : line.text)?.[1] ?? [],
  );
  expect([...new Set(verdicts)]).toEqual(['BLOCKS', 'applies', 'unknown', 'ok']);
});
