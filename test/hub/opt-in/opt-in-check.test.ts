/**
 * `fleet-endpoints opt-in check`: the hub's table and the cluster's API over HTTP, through a local run's
 * connection and through a stand-in for kubectl.
 */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { checkLines, checkOptIn, type OptInCheck } from '#infra/cli/ask/opt-in/opt-in-check.ts';
import type { OptInFinding } from '#infra/cli/ask/opt-in/opt-in-point.ts';
import { clusterReader } from '#infra/cli/ask/readiness/cluster-reader.ts';
import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import { type ApiServer, startApiServer } from '#infra/local/apiserver/http.ts';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { recordHeartbeat } from '#shared/clusters/relay/relay-state.ts';
import { annotationSelector } from '#shared/kube/names.ts';
import { cluster, type HubWorldOptions } from '#test/support/hub-world.ts';
import { aPod, aService, pods, type SmallCluster, smallCluster } from '#test/support/small-cluster.ts';

const key = { cluster, namespace: 'default', name: 'svc' };
const folder = mkdtempSync(join(tmpdir(), 'opt-in-check-'));
const path = process.env['PATH'];
const open: ApiServer[] = [];
afterEach(async () => {
  process.env['PATH'] = path;
  for (const server of open.splice(0)) await server.close();
  rmSync(folder, { recursive: true, force: true });
});

async function checked(
  given: readonly RawObject[],
  { kubectl = false, ...options }: Partial<HubWorldOptions> & { kubectl?: boolean } = {},
) {
  const small = await smallCluster(given, { mode: 'shadow', optIn: 'active', ...options });
  await small.pass(8);
  await heard(small);
  return { small, check: await checkOf(small, kubectl) };
}

async function heard({ world }: SmallCluster): Promise<void> {
  const meta = (await readCluster(world.table, cluster)) as ClusterRecord;
  await recordHeartbeat(world.table, meta, {
    heartbeatAtMs: world.now,
    queueLagSeconds: 0,
    clockAheadSeconds: 0,
    readUpTo: {},
  });
}

async function checkOf({ world }: SmallCluster, kubectl = false, context?: string): Promise<OptInCheck> {
  const server = await startApiServer({ store: world.store });
  open.push(server);
  mkdirSync(folder, { recursive: true });
  const connectionsFile = join(folder, 'connections.json');
  writeFileSync(connectionsFile, JSON.stringify({ [cluster]: { server: server.url } }));
  if (kubectl) standIn(server.url);
  return checkOptIn(
    { table: world.table, now: () => world.now, connectionsFile: kubectl ? undefined : connectionsFile },
    key,
    context,
  );
}

/** A kubectl that notes its arguments, and answers `get --raw` as kubectl does. */
function standIn(url: string): void {
  const program = `#!${process.execPath}
const args = process.argv.slice(2);
require('node:fs').appendFileSync(${JSON.stringify(join(folder, 'arguments'))}, args.join(' ') + '\\n');
fetch(${JSON.stringify(url)} + args.at(-1)).then(async (answer) => {
  const text = await answer.text();
  if (answer.ok) return console.log(text);
  const { message, reason } = JSON.parse(text);
  console.error('Error from server (' + reason + '): ' + message);
  process.exitCode = 1;
});
`;
  writeFileSync(join(folder, 'kubectl'), program);
  chmodSync(join(folder, 'kubectl'), 0o755);
  process.env['PATH'] = `${folder}:${path}`;
}

const annotated = (annotation: string, spec: object = {}): RawObject => {
  const service = aService(spec);
  return { ...service, metadata: { ...service.metadata, annotations: { [annotationSelector]: annotation } } };
};
const of = ({ findings }: OptInCheck, code: OptInFinding['code']) => findings.find((f) => f.code === code);
const textOf = (check: OptInCheck): string =>
  checkLines(check)
    .map((line) => (typeof line === 'string' ? line : line.text))
    .join('\n');

/** As kube-controller-manager's two controllers write them. */
async function withBuiltInControllers({ world }: SmallCluster): Promise<void> {
  const twin = await smallCluster([aService(), ...pods(2)]);
  await twin.pass(8);
  for (const kind of ['Endpoints', 'EndpointSlice'] as const)
    for (const object of twin.world.store.list(kind)) {
      const { resourceVersion: _, uid: __, managedFields: ___, ...metadata } = object.metadata;
      world.store.create(kind, 'default', { ...object, metadata } as RawObject, {
        manager: 'kube-controller-manager',
      });
    }
}

describe('a Service with a selector', () => {
  it('without the annotation the selector must stay, and the command that adds the annotation is printed', async () => {
    const { check } = await checked([aService(), ...pods(2)]);
    expect(check).toMatchObject({ allowed: false, hasSelector: true, next: null });
    expect(of(check, 'Annotation')).toMatchObject({
      verdict: 'blocks',
      remedy: 'kubectl -n default annotate service svc fleet-endpoints/selector=app=a',
    });
    expect(textOf(check)).toMatch(/^c default\/svc: keep the selector \(\d block/);
  });

  it('the selector can be removed as soon as the annotation and the switch are there and both writers agree', async () => {
    const { small } = await checked([annotated('app=a'), ...pods(2)]);
    await withBuiltInControllers(small);
    await small.pass(8);
    await heard(small);
    const check = await checkOf(small);
    expect(check.findings.filter((f) => f.verdict === 'blocks' || f.verdict === 'unknown')).toEqual([]);
    expect(check).toMatchObject({
      allowed: true,
      next: expect.stringContaining('kubectl -n default patch service svc --type=json'),
    });
    expect(of(check, 'OtherWriters')?.message).toMatch(/deletes \d objects of the built-in controllers$/);
  });

  it.each([
    ['off', {}, /switch for opt-in is off/],
    ['shadow', {}, /switch for opt-in is shadow/],
    ['active', { mode: 'paused' }, /the cluster is paused/],
  ] as const)('the switch %s with %j blocks', async (optIn, options, message) => {
    const { check } = await checked([annotated('app=a'), ...pods(1)], { optIn, ...options });
    expect(of(check, 'Switch')).toMatchObject({ verdict: 'blocks', message: expect.stringMatching(message) });
  });

  it('a set-based annotation applies, because a hand-back needs another label', async () => {
    const [opted, before] = [
      await checked([annotated('app in (a,b)', { selector: undefined }), ...pods(1)]),
      await checked([annotated('app in (a,b)'), ...pods(1)]),
    ];
    expect(of(opted.check, 'Annotation')).toMatchObject({
      verdict: 'applies',
      message:
        'app in (a,b); the annotation is set-based, and no spec.selector selects the same pods: for a hand-back give them a label of their own, and select by it',
    });
    expect(of(before.check, 'Annotation')?.message).toMatch(
      /^app in \(a,b\) differs from the selector app=a: the addresses change; the annotation is set-based/,
    );
  });

  it('an annotation that selects other pods applies, and an invalid one blocks', async () => {
    const [other, invalid] = [
      await checked([annotated('app=b'), ...pods(1)]),
      await checked([annotated('app in (a'), ...pods(1)]),
    ];
    expect(of(other.check, 'Annotation')).toMatchObject({
      verdict: 'applies',
      message: expect.stringContaining('app=b differs'),
    });
    expect(of(invalid.check, 'Annotation')).toMatchObject({
      verdict: 'blocks',
      message: expect.stringMatching(/^invalid: unable to parse requirement: found ''/),
    });
  });

  it('a difference from the built-in controllers blocks', async () => {
    const { small } = await checked([annotated('app=a'), ...pods(2)]);
    await small.pass(120);
    expect(of(await checkOf(small), 'State')).toMatchObject({ verdict: 'blocks' });
  });
});

it('a Service that has opted in is checked too', async () => {
  const { check } = await checked([annotated('app=a', { selector: undefined }), ...pods(2)]);
  expect(check).toMatchObject({
    allowed: true,
    hasSelector: false,
    next: null,
    message: 'it opts in (2 apply)',
  });
});

it.each([
  [aService({ type: 'ExternalName', selector: undefined }), /ExternalName/],
  [aService({ selector: undefined }), /neither a selector nor the annotation/],
])('a Service that cannot opt in has one finding with the reason', async (service, reason) => {
  const { check } = await checked([service, aPod(0)]);
  expect(check.findings).toMatchObject([
    { code: 'Type', verdict: 'blocks', message: expect.stringMatching(reason) },
  ]);
});

it('an unknown Service is an error with the known names', async () => {
  const small = await smallCluster([aService()]);
  await small.pass(8);
  const hub = { table: small.world.table, now: () => small.world.now, connectionsFile: undefined };
  await expect(checkOptIn(hub, { ...key, name: 'scv' })).rejects.toThrow(
    'no service scv in namespace default of c: there is svc',
  );
});

describe('through kubectl', () => {
  it('the context is kubectl’s current one, or the chosen one', async () => {
    const { small, check } = await checked([annotated('app=a'), ...pods(2)], { kubectl: true });
    expect(of(check, 'Cluster')).toMatchObject({
      verdict: 'fine',
      message: "read by kubectl's current context",
    });
    await checkOf(small, true, 'prod');
    const calls = readFileSync(join(folder, 'arguments'), 'utf8').trim().split('\n');
    expect(calls[0]).toBe('--request-timeout=10s get --raw /api/v1/namespaces/kube-system');
    expect(calls.at(-1)).toMatch(/^--context prod --request-timeout=10s get --raw \//);
    expect(calls.filter((call) => !call.includes(' get --raw /'))).toEqual([]);
  });

  it('without kubectl the live points are unknown, and none of them blocks', async () => {
    const { small } = await checked([annotated('app=a'), ...pods(2)]);
    process.env['PATH'] = folder;
    const hub = { table: small.world.table, now: () => small.world.now, connectionsFile: undefined };
    const check = await checkOptIn(hub, key);
    expect(of(check, 'Cluster')).toMatchObject({ verdict: 'unknown', message: 'kubectl is not in PATH' });
    expect(of(check, 'ReadinessGates')).toMatchObject({
      verdict: 'unknown',
      message: 'the cluster was not read',
    });
  });

  it('a context of another cluster is refused', async () => {
    const other = await checked([annotated('app=a'), ...pods(1)], { kubectl: true });
    const meta = (await readCluster(other.small.world.table, cluster)) as ClusterRecord;
    await expect(clusterReader({ connectionsFile: undefined }, { ...meta, uid: 'another' })).rejects.toThrow(
      "kubectl's current context reaches another cluster: choose the context of c with --context",
    );
  });
});
