/** `explain CLUSTER -A`: the services of a cluster, for people and as data. */
import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { beforeAll, describe, expect, it } from 'vitest';
import { serviceListLines } from '#infra/cli/ask/lists/service-list.ts';
import { listOf, serviceOf } from '#infra/cli/command/arguments/service-argument.ts';
import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import { switchMode } from '#shared/clusters/writer/mode-switch.ts';
import { annotationSelector } from '#shared/kube/names.ts';
import { saveDifference } from '#shared/store/outputs/shadow-record.ts';
import { aPod, aService, smallCluster } from '#test/support/small-cluster.ts';

const small = await smallCluster([
  aService({}, 'web'),
  aService({ publishNotReadyAddresses: true }, 'published'),
  aService({ type: 'ExternalName', externalName: 'example.com', selector: undefined }, 'elsewhere'),
  inPay(aService({ selector: undefined }, 'held')),
  aPod(0),
  aPod(1, { ready: false }),
]);
const { table } = small.world;
beforeAll(async () => {
  await small.pass(20);
});

function inPay(object: RawObject): RawObject {
  const annotations = { [annotationSelector]: 'app=x' };
  return { ...object, metadata: { ...object.metadata, namespace: 'pay', annotations } };
}

const list = async (more: Partial<Parameters<typeof serviceListLines>[1]> = {}) =>
  (
    await serviceListLines(table, {
      cluster: 'c',
      namespace: undefined,
      isNotReadyOnly: false,
      now: small.world.now,
      format: undefined,
      ...more,
    })
  ).map((line) => (typeof line === 'string' ? [line] : [line.text, line.style]));

describe('the list of services', () => {
  it('each service has the pods that can be reached, its writer and its worst cause, as explain tells them', async () => {
    const notReady = 'pod pod-1: node node-a is NotReady';
    expect(await list()).toEqual([
      ['namespace  service    type          ready  reach              writer', 'title'],
      ['default    elsewhere  ExternalName  -      NoEndpointsWanted  no writer'],
      [
        expect.stringMatching(/^default {4}published {2}ClusterIP {5}2\/2 {4}Reachable {10}fleet-endpoints/),
        expect.anything(),
      ],
      [
        `default    web        ClusterIP     1/2    PartlyReachable    fleet-endpoints           ${notReady}`,
        'warning',
      ],
      [
        expect.stringMatching(/^pay {8}held {7}ClusterIP {5}- {6}Unreachable {8}no writer: opt-in is off/),
        'bad',
      ],
    ]);
  });

  it('the list of a namespace, and of services that deserve a look, has these alone', async () => {
    expect(await list({ format: 'name', namespace: 'default' })).toEqual([
      ['default/elsewhere'],
      ['default/published'],
      ['default/web'],
    ]);
    expect(await list({ format: 'name', namespace: 'pay', isNotReadyOnly: true })).toEqual([['pay/held']]);
  });

  it('a service whose pods are ready and have no such port is not counted as reachable', async () => {
    const ports = [{ name: 'http', port: 80, targetPort: 'web', protocol: 'TCP' }];
    const { world, pass } = await smallCluster([aService({ ports }, 'web'), aPod(0)]);
    await pass(20);
    const listed = await serviceListLines(world.table, {
      ...{ cluster: 'c', namespace: undefined, isNotReadyOnly: true, now: world.now, format: undefined },
    });
    expect(listed[1]).toMatchObject({
      text: expect.stringMatching(
        /^default +web +ClusterIP +0\/1 +Unreachable .*no container has a port named web/,
      ),
      style: 'bad',
    });
  });

  it('a service with a confirmed difference is marked in shadow mode', async () => {
    const key = (name: string) => ({ cluster: 'c', namespace: 'default', name });
    await saveDifference(table, key('published'), { text: '["x"]', sinceMs: 1, confirmed: true });
    await saveDifference(table, key('web'), { text: '["x"]', sinceMs: 1, confirmed: false });
    const marked = async () =>
      (await list({ namespace: 'default' }))
        .filter(([text]) => text?.includes('  differs'))
        .map(([, style]) => style);
    expect(await marked()).toEqual([]);
    await switchMode(table, 'c', 'shadow', small.world.now);
    expect(await marked()).toEqual(['bad']);
    await switchMode(table, 'c', 'active', small.world.now);
  });

  it('an unknown namespace is an error with the existing ones', async () => {
    await expect(list({ namespace: 'nope' })).rejects.toThrow(
      'no namespace nope with services in c: there are default, pay',
    );
  });

  it('the list as data follows its schema', async () => {
    const data = JSON.parse((await list({ format: 'json' })).join('\n'));
    const validate = new Ajv2020().compile(
      JSON.parse(readFileSync('docs/reference/schemas/service-list.schema.json', 'utf8')),
    );
    validate(data);
    expect(validate.errors).toBeNull();
    expect(data.at(-1)).toMatchObject({
      ...{ namespace: 'pay', service: 'held', selected: 0, reach: 'Unreachable', state: 'NoWriter' },
      writers: { endpoints: 'nobody', slices: 'nobody' },
    });
  });
});

describe('the arguments of the list', () => {
  it('a cluster with -A or -n is a list, and a service is none', async () => {
    expect(await listOf(table, 'c', undefined, { allNamespaces: true })).toEqual({
      cluster: 'c',
      namespace: undefined,
    });
    expect(await listOf(table, 'c', undefined, { namespace: 'default' })).toEqual({
      cluster: 'c',
      namespace: 'default',
    });
    expect(await listOf(table, 'c', 'web', { namespace: 'default' })).toBeUndefined();
    expect(await listOf(table, 'c', 'default/web', {})).toBeUndefined();
    // The hub's only cluster, otherwise that of kubectl's context.
    expect(await listOf(table, undefined, undefined, { allNamespaces: true })).toEqual({
      cluster: 'c',
      namespace: undefined,
    });
    expect(await listOf(table, undefined, undefined, { namespace: 'default' })).toEqual({
      cluster: 'c',
      namespace: 'default',
    });
    await expect(serviceOf(table, undefined, undefined)).rejects.toThrow(/^which service of c\? there are /);
    expect(await listOf(table, 'svc/web', undefined, { namespace: 'default' })).toBeUndefined();
  });

  it('-A with a service is an error', async () => {
    await expect(listOf(table, 'c', 'default/web', { allNamespaces: true })).rejects.toThrow(
      '-A lists all services: leave the service and -n out',
    );
  });
});
