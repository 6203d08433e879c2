/** `explain CLUSTER -A`: the services of a cluster, for people and as data. */
import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { beforeAll, describe, expect, it } from 'vitest';
import { serviceListLines } from '#infra/cli/ask/service-list.ts';
import { listOf, serviceOf } from '#infra/cli/command/arguments/service-argument.ts';
import { registerCluster } from '#shared/clusters/registration.ts';
import { switchMode } from '#shared/clusters/writer/mode-switch.ts';
import { annotationSelector } from '#shared/kube/names.ts';
import { encodeProjection } from '#shared/kube/projection/projection.ts';
import type { Pod, Service } from '#shared/kube/types.ts';
import { indexNamespace } from '#shared/store/inputs/namespaces.ts';
import { putObject } from '#shared/store/inputs/objects.ts';
import { saveDifference } from '#shared/store/outputs/shadow-record.ts';
import { versionOf } from '#shared/store/version.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';
import { pod, service } from '#test/unit/shared/controllers/slices/fixtures.ts';

const table = memoryTable();

beforeAll(async () => {
  await registerCluster(table, { id: 'a', mode: 'active' }, Date.now());
  const store = { table, cluster: 'a' };
  const record = (name: string, projection: string, namespace: string) => ({
    ...{
      namespace,
      name,
      projection,
      version: versionOf(1, '5'),
      unnotifiedLabels: undefined,
      deletedAtMs: 0,
    },
  });
  const put = async (namespace: string, name: string, object: Service) => {
    await indexNamespace(store, namespace);
    await putObject(
      store,
      'Service',
      record(name, encodeProjection('Service', object), namespace),
      undefined,
    );
  };
  const putPod = (name: string, object: Pod) =>
    putObject(store, 'Pod', record(name, encodeProjection('Pod', object), 'shop'), undefined);
  const named = (namespace: string, name: string, more: object = {}, spec: object = {}): Service => {
    const { metadata, ...rest } = service(spec);
    return { ...rest, metadata: { ...metadata, namespace, name, ...more } };
  };
  await put('shop', 'web', named('shop', 'web'));
  await put('shop', 'all-ready', named('shop', 'all-ready', {}, { publishNotReadyAddresses: true }));
  await put(
    'pay',
    'held',
    named('pay', 'held', { annotations: { [annotationSelector]: 'app=x' } }, { selector: undefined }),
  );
  await putPod('pod-1', pod(1));
  await putPod('pod-2', {
    ...pod(2),
    status: { ...pod(2).status, conditions: [{ type: 'Ready', status: 'False' }] },
  });
});

const list = async (more: Partial<Parameters<typeof serviceListLines>[1]> = {}) =>
  (
    await serviceListLines(table, {
      cluster: 'a',
      namespace: undefined,
      isNotReadyOnly: false,
      format: undefined,
      ...more,
    })
  ).map((line) => (typeof line === 'string' ? [line] : [line.text, line.style]));

describe('the list of services', () => {
  it('each service has its ready pods and its writer, and a colour if something is wrong', async () => {
    expect(await list()).toEqual([
      ['namespace  service    type       ready  writer', 'title'],
      ['pay        held       ClusterIP  -      no writer: opt-in is off', 'bad'],
      ['shop       all-ready  ClusterIP  2/2    fleet-endpoints'],
      ['shop       web        ClusterIP  1/2    fleet-endpoints', 'warning'],
    ]);
  });

  it('the list of a namespace, and of services with pods that are not ready, has these alone', async () => {
    expect(await list({ format: 'name', namespace: 'shop' })).toEqual([['shop/all-ready'], ['shop/web']]);
    expect(await list({ format: 'name', isNotReadyOnly: true })).toEqual([['shop/web']]);
    expect(await list({ namespace: 'pay', isNotReadyOnly: true })).toEqual([['all selected pods are ready']]);
  });

  it('a service with a confirmed difference is marked in shadow mode', async () => {
    await saveDifference(
      table,
      { cluster: 'a', namespace: 'shop', name: 'all-ready' },
      { text: '["x"]', sinceMs: 1, confirmed: true },
    );
    await saveDifference(
      table,
      { cluster: 'a', namespace: 'shop', name: 'web' },
      { text: '["x"]', sinceMs: 1, confirmed: false },
    );
    const marks = async () =>
      (await list({ namespace: 'shop' })).map(([text, style]) => [text?.endsWith('  differs'), style]);
    expect(await marks()).toEqual([
      [false, 'title'],
      [false, undefined],
      [false, 'warning'],
    ]);
    await switchMode(table, 'a', 'shadow', Date.now());
    expect(await marks()).toEqual([
      [false, 'title'],
      [true, 'bad'],
      [false, 'warning'],
    ]);
    await switchMode(table, 'a', 'active', Date.now());
  });

  it('an unknown namespace is an error with the existing ones', async () => {
    await expect(list({ namespace: 'nope' })).rejects.toThrow(
      'no namespace nope with services in a: there are pay, shop',
    );
  });

  it('the list as data follows its schema', async () => {
    const data = JSON.parse((await list({ format: 'json' })).join('\n'));
    const validate = new Ajv2020().compile(
      JSON.parse(readFileSync('docs/reference/schemas/service-list.schema.json', 'utf8')),
    );
    validate(data);
    expect(validate.errors).toBeNull();
    expect(data[0]).toMatchObject({
      namespace: 'pay',
      service: 'held',
      selected: 0,
      writers: { endpoints: 'nobody', slices: 'nobody' },
    });
  });
});

describe('the arguments of the list', () => {
  it('a cluster with -A or -n is a list, and a service is none', async () => {
    expect(await listOf(table, 'a', undefined, { allNamespaces: true })).toEqual({
      cluster: 'a',
      namespace: undefined,
    });
    expect(await listOf(table, 'a', undefined, { namespace: 'shop' })).toEqual({
      cluster: 'a',
      namespace: 'shop',
    });
    expect(await listOf(table, 'a', 'web', { namespace: 'shop' })).toBeUndefined();
    expect(await listOf(table, 'a', 'shop/web', {})).toBeUndefined();
    // The hub's only cluster, otherwise that of kubectl's context.
    expect(await listOf(table, undefined, undefined, { allNamespaces: true })).toEqual({
      cluster: 'a',
      namespace: undefined,
    });
    expect(await listOf(table, undefined, undefined, { namespace: 'shop' })).toEqual({
      cluster: 'a',
      namespace: 'shop',
    });
    await expect(serviceOf(table, undefined, undefined)).rejects.toThrow(/^which service of a\? there are /);
    expect(await listOf(table, 'svc/web', undefined, { namespace: 'shop' })).toBeUndefined();
  });

  it('-A with a service is an error', async () => {
    await expect(listOf(table, 'a', 'shop/web', { allNamespaces: true })).rejects.toThrow(
      '-A lists all services: leave the service and -n out',
    );
  });
});
