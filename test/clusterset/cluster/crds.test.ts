/**
 * The CRDs of the Multi-Cluster Services API as they come, go and age in a cluster (MC-1, MC-52), with the
 * relay's and the writer's own rights.
 */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { isRefusal } from '#shared/clusters/api/errors.ts';
import { type HttpsClusterApi, httpsClusterApi } from '#shared/clusters/api/https.ts';
import { type HttpTransport, httpTransport } from '#shared/clusters/api/transport.ts';
import { annotationDerivedService } from '#shared/clusterset/contract/clusterset-names.ts';
import { derivedName } from '#shared/clusterset/imports/derived-name.ts';
import type { ServiceImport } from '#shared/kube/mcs-types.ts';
import { annotationClusterset, importManagedBy } from '#shared/kube/names.ts';
import { mcsApiVersion } from '#shared/kube/projection/mcs-projection.ts';
import { type Api, connectApi } from '#test/e2e/api.ts';
import { type ControlPlane, startControlPlane } from '#test/support/control-plane/control-plane.ts';
import { installMcs, type McsKind, uninstallMcs } from '#test/support/control-plane/mcs-crds.ts';
import { applyAccess, relayConnection, writerConnection } from '#test/support/relay-install.ts';
import { type RelayRun, runRelay } from '#test/worlds/relay/run-relay.ts';

let controlPlane: ControlPlane;
let admin: Api;
let root: HttpTransport;
let writer: HttpsClusterApi;
let relay: RelayRun;

const until = (holds: () => unknown) =>
  vi.waitFor(() => expect(holds()).toBeTruthy(), { timeout: 30_000, interval: 20 });
const exports_ = (): readonly string[] => [...relay.state('ServiceExport').keys()].sort();
const isServed = (kind: string): boolean =>
  relay.relay
    .gauges()
    .find((g) => g.name === 'relay_kind_served')
    ?.values.some(([labels, value]) => labels.includes(`"${kind}"`) && value === 1) ?? false;
const makeExports = async (...names: readonly string[]): Promise<void> => {
  for (const name of names) await admin.create('ServiceExport', 'shop', { metadata: { name }, spec: {} });
};
/** Resolves when the last object and the CRD are gone. */
async function uninstall(...kinds: readonly McsKind[]): Promise<void> {
  for (const kind of kinds) await uninstallMcs(controlPlane.connection, kind);
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const names = async (): Promise<string> => (await root.request('GET', path)).body.toString();
  for (const kind of kinds)
    await vi.waitFor(async () => expect(await names()).not.toContain(`"${kind}.multicluster`), {
      timeout: 30_000,
      interval: 50,
    });
}
const anImport = (name: string) => ({
  apiVersion: mcsApiVersion,
  kind: 'ServiceImport' as const,
  metadata: {
    namespace: 'shop',
    name,
    labels: { [importManagedBy.key]: importManagedBy.value },
    annotations: { [annotationDerivedService]: derivedName('shop', name), [annotationClusterset]: 'prod' },
  },
  spec: {
    type: 'ClusterSetIP',
    ports: [{ name: 'http', port: 80, protocol: 'TCP' }],
  } as ServiceImport['spec'],
});

beforeAll(async () => {
  controlPlane = await startControlPlane();
  admin = connectApi(controlPlane.connection);
  root = httpTransport(controlPlane.connection);
  await admin.create('Namespace', '', {
    metadata: { name: 'shop', labels: { [annotationClusterset]: 'prod' } },
  });
  await applyAccess(controlPlane, undefined, {
    imports: { cluster: 'a', set: 'prod', sameness: 'labelled', sources: {} },
  });
  writer = httpsClusterApi(await writerConnection(controlPlane), { fieldManager: 'fleet-endpoints-x' });
  relay = runRelay(await relayConnection(controlPlane), { clusterset: true });
}, 120_000);
afterAll(async () => {
  await relay?.stop().catch(() => {});
  for (const open of [admin, root, writer]) open?.close();
  await controlPlane?.stop();
});

describe('the CRDs of a cluster', () => {
  it('a relay without the CRDs is ready, and finds CRDs that only have v1alpha1', async () => {
    await until(() => relay.relay.isReady && relay.heartbeats().length > 0 && isServed('Namespace'));
    expect(isServed('ServiceExport')).toBe(false);
    await installMcs(controlPlane.connection, ['serviceexports', 'serviceimports'], { alphaOnly: true });
    await until(() => isServed('ServiceExport') && isServed('ServiceImport'));
  });

  it('the hub writes imports and conditions where only v1alpha1 is served', async () => {
    const created = await writer.create('ServiceImport', anImport('web'));
    expect(created.apiVersion).toBe('multicluster.x-k8s.io/v1alpha1');
    const changed = await writer.replace('ServiceImport', {
      ...created,
      spec: { ...created.spec, sessionAffinity: 'ClientIP' },
    });
    expect(changed.spec.sessionAffinity).toBe('ClientIP');
    await writer.patchStatus('ServiceImport', 'shop', 'web', { clusters: [{ cluster: 'b' }] });
    expect((await writer.get('ServiceImport', 'shop', 'web'))?.status?.clusters).toEqual([{ cluster: 'b' }]);
    expect(await writer.get('ServiceImport', 'shop', 'none')).toBeUndefined();
    const { uid = '', resourceVersion = '' } =
      (await writer.get('ServiceImport', 'shop', 'web'))?.metadata ?? {};
    expect(await writer.delete('ServiceImport', 'shop', 'web', { uid, resourceVersion })).toBe(true);
    await until(() => relay.live('ServiceImport').length > 0);
  });

  it('exports that are deleted with their CRD are not withdrawn, and the relay reports the exports after the CRD returns', async () => {
    await uninstall('serviceexports', 'serviceimports');
    await until(() => !isServed('ServiceExport') && !isServed('ServiceImport'));
    await installMcs(controlPlane.connection);
    await until(() => isServed('ServiceExport'));
    await makeExports('api', 'db', 'web');
    await until(() => exports_().join() === 'shop/api,shop/db,shop/web');

    const [told, lists] = [relay.live('ServiceExport').length, relay.lists('ServiceExport').length];
    await uninstall('serviceexports');
    await until(() => !isServed('ServiceExport'));
    expect(
      relay.logged.filter((l) => String(l.fields['reason']).includes('CRD of ServiceExport')),
    ).not.toEqual([]);
    expect(relay.live('ServiceExport')).toHaveLength(told);
    expect(relay.lists('ServiceExport')).toHaveLength(lists);

    await installMcs(controlPlane.connection, ['serviceexports']);
    await until(() => isServed('ServiceExport') && relay.lists('ServiceExport').length > lists);
    await makeExports('web');
    await until(() => relay.live('ServiceExport').length > told);
    await admin.delete('ServiceExport', 'shop', 'web');
    await until(() => relay.live('ServiceExport').length > told + 1);
  });

  it('no import is made while its CRD goes, and the refusal is not one of rights', async () => {
    const held = {
      metadata: { name: 'held', finalizers: ['example.com/held'] },
      spec: { type: 'ClusterSetIP', ports: [] },
    } as const;
    await admin.create('ServiceImport', 'shop', held);
    await uninstallMcs(controlPlane.connection, 'serviceimports');
    const refusal = () =>
      writer.create('ServiceImport', anImport('late')).then(
        () => undefined,
        (error: unknown) => error,
      );
    await vi.waitFor(
      async () =>
        expect(await refusal()).toMatchObject({
          status: 403,
          message: expect.stringContaining('terminating'),
        }),
      {
        timeout: 10_000,
        interval: 50,
      },
    );
    expect(isRefusal(await refusal())).toBe(true);
    await admin.patch('ServiceImport', 'shop', 'held', { metadata: { finalizers: [] } });
  });
});
