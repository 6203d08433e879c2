/**
 * A cluster of one node, in virtual time, with the real ingest, sync and sweep: what the tests of whole
 * behaviours start from.
 */
import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import type { ApiKind, ClusterApi } from '#shared/clusters/api/port.ts';
import { annotationSelector } from '#shared/kube/names.ts';
import { HubWorld, type HubWorldOptions } from './hub-world.ts';
import { pod, service } from './objects.ts';

export const startAt = Date.parse('2026-01-02T00:00:00Z');
const createdAt = '2026-01-01T00:00:00Z';

export const node = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'node-a', uid: 'n', creationTimestamp: createdAt },
} as RawObject;

/** Selects app=a, port 80 → 8080. */
export const aService = (spec: object = {}, name = 'svc'): RawObject =>
  service(
    { selector: { app: 'a' }, ...spec },
    { name, namespace: 'default', uid: `uid-${name}`, creationTimestamp: createdAt },
  ) as unknown as RawObject;

/** The owner of the slices of that Service. */
export const ownedByTheService = {
  apiVersion: 'v1',
  kind: 'Service',
  name: 'svc',
  uid: 'uid-svc',
  controller: true,
  blockOwnerDeletion: true,
};

/** The Service without a selector, which opts in with app=a. */
export function optedIn(): RawObject {
  const service = aService({ selector: undefined });
  return { ...service, metadata: { ...service.metadata, annotations: { [annotationSelector]: 'app=a' } } };
}

/** Pod number i, dual-stack, on the one node. */
export const aPod = (
  i: number,
  { app = 'a', ready = true }: { readonly app?: string; readonly ready?: boolean } = {},
): RawObject =>
  pod(`pod-${i}`, {
    namespace: 'default',
    uid: `pod-${i}`,
    createdAt,
    labels: { app },
    ips: [`10.1.0.${i + 1}`, `fd00::${i + 1}`],
    ready,
    readySince: createdAt,
    spec: { nodeName: 'node-a', containers: [{ name: 'c', image: 'i' }] },
  }) as unknown as RawObject;

export const pods = (count: number): readonly RawObject[] => Array.from({ length: count }, (_, i) => aPod(i));

export type Call = `${'create' | 'replace' | 'delete'} ${ApiKind}`;

export interface SmallCluster {
  readonly world: HubWorld;
  /** Writes that sync has asked for, Events apart, and when (ms since the start). */
  readonly calls: { readonly call: Call; readonly at: number }[];
  readonly pass: (seconds: number) => Promise<void>;
}

/** `refuse`: throws instead of a call, or does nothing. */
export async function smallCluster(
  given: readonly RawObject[],
  options: Partial<HubWorldOptions> & {
    readonly refuse?: (call: Call, inner: () => Promise<unknown>) => Promise<void>;
  } = {},
): Promise<SmallCluster> {
  const calls: { call: Call; at: number }[] = [];
  let world: HubWorld | undefined;
  const through = async <T>(call: Call, run: () => Promise<T>): Promise<T> => {
    if (!call.endsWith(' Event')) calls.push({ call, at: (world?.now ?? startAt) - startAt });
    await options.refuse?.(call, run);
    return run();
  };
  const api = (inner: ClusterApi): ClusterApi => ({
    ...inner,
    create: (kind, object) => through(`create ${kind}`, () => inner.create(kind, object)),
    replace: (kind, object) => through(`replace ${kind}`, () => inner.replace(kind, object)),
    delete: (kind, ...rest) => through(`delete ${kind}`, () => inner.delete(kind, ...rest)),
  });
  const { refuse: _, ...worldOptions } = options;
  const started = await HubWorld.start({
    given: [node, ...given],
    startAt,
    settings: {},
    api,
    ...worldOptions,
  });
  world = started;
  return { world: started, calls, pass: (seconds) => started.runUntil(started.now + seconds * 1000) };
}
