/** The plan of a ServiceImport, and who owns one. */
import { describe, expect, it } from 'vitest';
import { type MergedExports, mergeExports } from '#shared/clusterset/exports/merge.ts';
import { derivedName } from '#shared/clusterset/imports/derived-name.ts';
import { planDerivedService } from '#shared/clusterset/imports/derived-service.ts';
import { type ImportToPlan, importStatus, planImport } from '#shared/clusterset/imports/service-import.ts';
import type { ServiceImport } from '#shared/kube/mcs-types.ts';
import type { Service } from '#shared/kube/types.ts';
import { derivedService, exported, serviceImport } from './fixtures.ts';

const merged = mergeExports([exported('b'), exported('c')]) as MergedExports;
const headless = mergeExports([exported('b', { clusterIP: 'None' })]) as MergedExports;
const toPlan = (more: Partial<ImportToPlan> = {}): ImportToPlan => ({
  namespace: 'shop',
  name: 'web',
  set: 'prod',
  merged,
  current: undefined,
  derived: undefined,
  ...more,
});

/** As the server would hold it. */
function made(more: Partial<ImportToPlan> = {}): ServiceImport {
  const plan = planImport(toPlan(more));
  if (plan.kind !== 'create') throw new Error(`expected a create, got ${plan.kind}`);
  return { ...serviceImport({ ...plan.draft.metadata, uid: 'import-uid' }), spec: plan.draft.spec };
}

describe('a ServiceImport', () => {
  it('a ServiceImport is created for a name that is exported, with its marks and the name of its derived Service (MC-11, MC-80)', () => {
    expect(planImport(toPlan())).toEqual({
      kind: 'create',
      draft: {
        metadata: {
          namespace: 'shop',
          name: 'web',
          labels: { 'app.kubernetes.io/managed-by': 'fleet-endpoints' },
          annotations: {
            'fleet-endpoints/clusterset': 'prod',
            'multicluster.kubernetes.io/derived-service': derivedName('shop', 'web'),
          },
        },
        spec: {
          type: 'ClusterSetIP',
          ports: [{ name: 'http', port: 80, protocol: 'TCP' }],
          sessionAffinity: 'None',
          internalTrafficPolicy: 'Cluster',
        },
      },
    });
  });

  it('a ServiceImport gets the addresses and families of its derived Service (MC-17)', () => {
    const derived = derivedService({ clusterIPs: ['10.96.7.7', 'fd00::7'], ipFamilies: ['IPv4', 'IPv6'] });
    const plan = planImport(toPlan({ current: made(), derived }));
    expect(plan).toMatchObject({
      kind: 'update',
      object: { spec: { ips: ['10.96.7.7', 'fd00::7'], ipFamilies: ['IPv4', 'IPv6'] } },
    });
  });

  it('a ServiceImport has no addresses where it is headless, also while the derived Service still has one', () => {
    expect(made({ merged: headless, derived: derivedService() }).spec.ips).toBeUndefined();
    expect(
      made({ merged: headless, derived: derivedService({ clusterIP: 'None', clusterIPs: ['None'] }) }).spec
        .ips,
    ).toBeUndefined();
  });

  it('a ServiceImport is not written again when it is as it should be', () => {
    const current = made({ derived: derivedService() });
    expect(planImport(toPlan({ current, derived: derivedService() }))).toEqual({ kind: 'unchanged' });
  });

  it.each<[string, (i: ServiceImport) => ServiceImport]>([
    ['a port', (i) => ({ ...i, spec: { ...i.spec, ports: [] } })],
    ['a label', (i) => ({ ...i, metadata: { ...i.metadata, labels: { ...i.metadata.labels, tier: 'x' } } })],
    ['an address', (i) => ({ ...i, spec: { ...i.spec, ips: ['10.9.9.9'] } })],
  ])('a ServiceImport is put right where a user edits %s', (_, edit) => {
    const right = made({ derived: derivedService() });
    const plan = planImport(toPlan({ current: edit(right), derived: derivedService() }));
    expect(plan).toMatchObject({
      kind: 'update',
      object: { spec: right.spec, metadata: { labels: right.metadata.labels } },
    });
  });

  it('a ServiceImport keeps the annotations of other controllers, and loses those that the hub has set and that are not exported any more', () => {
    const right = made({ derived: derivedService() });
    const setBy = (manager: string, key: string) => ({
      manager,
      fieldsV1: { 'f:metadata': { 'f:annotations': { '.': {}, [`f:${key}`]: {} } } },
    });
    const annotated = (
      ...fields: readonly { readonly manager: string; readonly key: string }[]
    ): ServiceImport => ({
      ...right,
      metadata: {
        ...right.metadata,
        annotations: {
          ...right.metadata.annotations,
          ...Object.fromEntries(fields.map(({ key }) => [key, 'x'])),
        },
        managedFields: fields.map(({ manager, key }) => setBy(manager, key)),
      },
    });
    const plan = (current: ServiceImport) =>
      planImport(toPlan({ current, derived: derivedService(), writtenBy: 'fleet-endpoints-1' }));
    const [theirs, ours] = [
      { manager: 'argocd', key: 'argocd/tracking' },
      { manager: 'fleet-endpoints-1', key: 'team' },
    ];
    expect(plan(annotated(theirs))).toEqual({ kind: 'unchanged' });
    const kept = { ...right.metadata.annotations, [theirs.key]: 'x' };
    expect(plan(annotated(theirs, ours))).toMatchObject({
      kind: 'update',
      object: { metadata: { annotations: kept } },
    });
    const updated = plan(annotated(theirs, ours));
    expect(updated.kind === 'update' && updated.object.metadata.annotations).toEqual(kept);
    expect(plan(annotated(ours, { ...theirs, key: 'team' }))).toMatchObject({ kind: 'update' });
  });

  it('a ServiceImport is deleted when nothing exports its name any more (MC-81), once', () => {
    const current = made();
    expect(planImport(toPlan({ merged: undefined, current }))).toEqual({ kind: 'delete', object: current });
    const going = {
      ...current,
      metadata: { ...current.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
    };
    expect(planImport(toPlan({ merged: undefined, current: going }))).toEqual({ kind: 'unchanged' });
  });

  it.each<[string, ServiceImport]>([
    ['without our label', serviceImport({ labels: {} })],
    ['of another set of ours', serviceImport({ annotations: { 'fleet-endpoints/clusterset': 'staging' } })],
  ])('a ServiceImport that is another’s is left alone: one %s (MC-80)', (_, current) => {
    expect(planImport(toPlan({ current }))).toEqual({ kind: 'not-ours' });
    expect(planImport(toPlan({ current, merged: undefined }))).toEqual({ kind: 'unchanged' });
  });

  it.each<[string, Partial<ServiceImport['metadata']>]>([
    ['its label', { labels: {} }],
    ['its label for that of another tool', { labels: { 'app.kubernetes.io/managed-by': 'Helm' } }],
    ['its annotations', { annotations: {} }],
    ['both', { labels: {}, annotations: {} }],
  ])(
    'a ServiceImport whose derived Service names it as its owner gets back its marks where a user takes off %s (MC-80)',
    (_, metadata) => {
      const right = made({ derived: derivedService() });
      const current = { ...right, metadata: { ...right.metadata, ...metadata } };
      expect(planImport(toPlan({ current, derived: derivedService() }))).toMatchObject({
        kind: 'update',
        object: right,
      });
      expect(planImport(toPlan({ current, derived: undefined }))).toEqual({ kind: 'not-ours' });
      expect(planImport(toPlan({ current, derived: derivedService({}, { ownerReferences: [] }) }))).toEqual({
        kind: 'not-ours',
      });
    },
  );

  it('a ServiceImport without its marks is another’s where the Service that it owns has not our label', () => {
    const current = serviceImport({ labels: {}, annotations: {} });
    const labels = { 'multicluster.kubernetes.io/service-name': 'web' };
    expect(planImport(toPlan({ current, derived: derivedService({}, { labels }) }))).toEqual({
      kind: 'not-ours',
    });
  });

  it('a ServiceImport of another set stays with that set, with any owner', () => {
    const current = serviceImport({ annotations: { 'fleet-endpoints/clusterset': 'staging' } });
    expect(planImport(toPlan({ current, derived: derivedService() }))).toEqual({ kind: 'not-ours' });
  });

  it('a ServiceImport has no address of a Service under the derived name that the hub did not make', () => {
    const derived = derivedService(
      { clusterIP: '10.96.0.99', clusterIPs: ['10.96.0.99'] },
      { labels: {}, ownerReferences: [] },
    );
    expect(planImport(toPlan({ current: made(), derived }))).toEqual({ kind: 'unchanged' });
  });

  it('a ServiceImport names each exporting cluster in its status, in an order that does not change with the winner (MC-18)', () => {
    const other = mergeExports([exported('b'), exported('c')], {
      cluster: 'c',
      uid: 'uid-c',
    }) as MergedExports;
    expect(importStatus(other)).toEqual({
      clusters: [{ cluster: 'b' }, { cluster: 'c' }],
      endpointSliceObjects: 'Present',
    });
  });
});

describe('the derived Service', () => {
  const plan = (current: Service | undefined, of = merged) =>
    planDerivedService({ merged: of, serviceImport: made(), current });
  const marked = (spec: Service['spec'] = {}, metadata: Partial<Service['metadata']> = {}) =>
    derivedService(spec, metadata);

  it('the derived Service is created without a selector, owned by the import (MC-31, MC-32)', () => {
    const created = plan(undefined);
    expect(created).toEqual({
      kind: 'create',
      draft: {
        metadata: {
          namespace: 'shop',
          name: derivedName('shop', 'web'),
          labels: {
            'multicluster.kubernetes.io/service-name': 'web',
            'app.kubernetes.io/managed-by': 'fleet-endpoints',
          },
          ownerReferences: derivedService().metadata.ownerReferences,
        },
        spec: {
          type: 'ClusterIP',
          ipFamilyPolicy: 'SingleStack',
          ipFamilies: ['IPv4'],
          ports: [{ name: 'http', port: 80, protocol: 'TCP', targetPort: 80 }],
          sessionAffinity: 'None',
          internalTrafficPolicy: 'Cluster',
        },
      },
    });
  });

  it('a Service without our label is left alone, if its name, its label and its owner are those of a derived Service: another implementation gives the same', () => {
    const { metadata, ...rest } = derivedService();
    const { 'app.kubernetes.io/managed-by': _, ...labels } = metadata.labels ?? {};
    expect(plan({ ...rest, metadata: { ...metadata, labels } })).toEqual({ kind: 'not-ours' });
  });

  it('the derived Service asks for both families where every export has both', () => {
    const dual = mergeExports([exported('b', { ipFamilies: ['IPv6', 'IPv4'] })]) as MergedExports;
    const created = plan(undefined, dual);
    expect(created.kind === 'create' && created.draft.spec).toMatchObject({
      ipFamilyPolicy: 'PreferDualStack',
    });
    expect(created.kind === 'create' && created.draft.spec.ipFamilies).toBeUndefined();
  });

  it('the derived Service is not written again when it is as it should be', () => {
    expect(plan(marked())).toEqual({ kind: 'unchanged' });
  });

  it('the derived Service loses a selector and external addresses that a user gives it', () => {
    const update = plan(marked({ selector: { app: 'mine' }, externalIPs: ['1.2.3.4'] }));
    expect(update.kind).toBe('update');
    expect(update.kind === 'update' && update.object.spec).toEqual(marked().spec);
  });

  it('the derived Service loses fields that the merge no longer has', () => {
    const update = plan(
      marked({
        trafficDistribution: 'PreferClose',
        sessionAffinity: 'ClientIP',
        sessionAffinityConfig: { clientIP: { timeoutSeconds: 5 } },
      }),
    );
    expect(update.kind === 'update' && update.object.spec).toEqual(marked().spec);
  });

  it('the derived Service is made again where the import becomes headless or stops being so: its address cannot change (MC-32)', () => {
    expect(plan(marked(), headless)).toMatchObject({
      kind: 'recreate',
      draft: { spec: { clusterIP: 'None' } },
    });
    expect(plan(marked({ clusterIP: 'None', clusterIPs: ['None'] }))).toMatchObject({ kind: 'recreate' });
  });

  it('the derived Service is created again if its first family changes: the API server does not allow that change', () => {
    expect(
      plan(marked({ clusterIPs: ['fd00::9'], clusterIP: 'fd00::9', ipFamilies: ['IPv6'] })),
    ).toMatchObject({ kind: 'recreate' });
  });

  it('the derived Service that a user has made under that name is left alone', () => {
    expect(plan(marked({}, { labels: {}, ownerReferences: [] }))).toEqual({ kind: 'not-ours' });
    expect(plan(marked({}, { labels: {} }))).toEqual({ kind: 'not-ours' });
  });

  const managed = { 'app.kubernetes.io/managed-by': 'fleet-endpoints' };
  it.each<[string, Partial<Service['metadata']>]>([
    ['the name of its import', { labels: managed }],
    ['its owner, as a deletion of the import that orphans does', { ownerReferences: [] }],
    [
      'our label, while the import has its address',
      { labels: { 'multicluster.kubernetes.io/service-name': 'web' } },
    ],
    ['all labels, while the import has its address', { labels: {} }],
  ])('the derived Service gets back %s where a user takes it off', (_, metadata) => {
    const serviceImport = { ...made(), spec: { ...made().spec, ips: ['10.96.7.7'] } };
    const update = planDerivedService({ merged, serviceImport, current: marked({}, metadata) });
    expect(update).toMatchObject({ kind: 'update', object: { metadata: marked().metadata } });
  });

  it('the derived Service of a former import is waited for: the garbage collector takes it', () => {
    const [owner] = marked().metadata.ownerReferences ?? [];
    expect(
      plan(marked({}, { ownerReferences: [{ ...(owner as NonNullable<typeof owner>), uid: 'former' }] })),
    ).toEqual({ kind: 'unchanged' });
  });
});
