/**
 * Keeps as many pods of each Deployment and StatefulSet of an embedded cluster as it asks for, of its newest
 * template: what the workload controllers of kube-controller-manager do, without ReplicaSets between.
 */
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Fields, RawObject, WorkloadKind } from '../apiserver/api-kinds.ts';
import type { Store } from '../apiserver/store.ts';

export interface ControllerOptions {
  readonly store: Store;
  /** Calls back after so many seconds, unless the run ends. */
  readonly after: (seconds: number, callback: () => void) => void;
}

const kinds = ['Deployment', 'StatefulSet'] as const satisfies readonly WorkloadKind[];
const hashLabel = 'pod-template-hash';

export function startWorkloadControllers({ store, after }: ControllerOptions): void {
  const due = new Set<string>();
  const soon = (kind: WorkloadKind, namespace: string, name: string): void => {
    const key = `${kind} ${namespace}/${name}`;
    if (due.has(key)) return;
    due.add(key);
    after(0.05, () => {
      due.delete(key);
      const owner = store.find(kind, namespace, name);
      if (owner && !owner.metadata.deletionTimestamp) reconcile(store, kind, owner);
    });
  };
  for (const kind of kinds)
    store.watch(kind, ({ object }) => soon(kind, object.metadata.namespace ?? '', object.metadata.name));
  store.watch('Pod', ({ object }) => {
    for (const { kind, name } of object.metadata.ownerReferences ?? [])
      if (isWorkload(kind)) soon(kind, object.metadata.namespace ?? '', name);
  });
}

const isWorkload = (kind: string): kind is WorkloadKind => (kinds as readonly string[]).includes(kind);

function reconcile(store: Store, kind: WorkloadKind, owner: RawObject): void {
  const { namespace = '', name } = owner.metadata;
  const pods = podsOf(store, owner);
  const plan = kind === 'Deployment' ? planDeployment(owner, pods) : planStatefulSet(owner, pods);
  for (const pod of plan.create) store.create('Pod', namespace, pod, { manager: 'kube-controller-manager' });
  for (const pod of plan.remove) store.delete('Pod', namespace, pod.metadata.name);
  const status = statusOf(owner, podsOf(store, owner));
  if (!isDeepStrictEqual({ ...owner.status, ...status }, owner.status))
    store.patch(
      kind,
      { namespace, name },
      { status },
      {
        manager: 'kube-controller-manager',
        subresource: 'status',
      },
    );
}

/** A pod whose labels no longer match is released, and another one takes its place. */
function podsOf(store: Store, { metadata, spec }: RawObject): readonly RawObject[] {
  const wanted = Object.entries(
    (spec?.['selector'] as { matchLabels?: Record<string, string> } | undefined)?.matchLabels ?? {},
  );
  return store
    .list('Pod', metadata.namespace)
    .filter(
      (pod) =>
        pod.metadata.ownerReferences?.some((o) => o.uid === metadata.uid) &&
        wanted.every(([key, value]) => pod.metadata.labels?.[key] === value),
    );
}

export interface PodPlan {
  readonly create: readonly object[];
  readonly remove: readonly RawObject[];
}

const replicasOf = ({ spec }: RawObject): number => Number(spec?.['replicas'] ?? 1);
const isReady = ({ status }: RawObject): boolean =>
  ((status?.['conditions'] ?? []) as readonly Fields[]).some(
    (c) => c['type'] === 'Ready' && c['status'] === 'True',
  );
const isLiving = ({ metadata }: RawObject): boolean => metadata.deletionTimestamp === undefined;
const isOf = (hash: string) => (pod: RawObject) => pod.metadata.labels?.[hashLabel] === hash;

/** One pod more than asked for during a rolling update, and never fewer ready ones than before. */
export function planDeployment(owner: RawObject, all: readonly RawObject[]): PodPlan {
  const hash = templateHash(owner);
  const replicas = replicasOf(owner);
  const pods = all.filter(isLiving);
  const current = pods.filter(isOf(hash));
  const former = pods
    .filter((pod) => !isOf(hash)(pod))
    .sort((a, b) => Number(isReady(a)) - Number(isReady(b)));
  const room = Math.max(0, Math.min(replicas - current.length, replicas + 1 - pods.length));
  const create = Array.from({ length: room }, () =>
    podOf(owner, { generateName: `${owner.metadata.name}-` }),
  );
  const surplus = current.slice(0, Math.max(0, current.length - replicas));
  const ready = pods.filter(isReady).length;
  const spare = former.filter((pod, i) => !isReady(pod) || ready - i > replicas);
  return { create, remove: [...surplus, ...spare.slice(0, Math.max(0, pods.length - replicas))] };
}

/** Pods with stable names. A pod stops before its replacement starts, one at a time. */
export function planStatefulSet(owner: RawObject, all: readonly RawObject[]): PodPlan {
  const hash = templateHash(owner);
  const names = Array.from({ length: replicasOf(owner) }, (_, i) => `${owner.metadata.name}-${i}`);
  const there = new Map(all.map((pod) => [pod.metadata.name, pod]));
  const create = names
    .filter((name) => !there.has(name))
    .map((name) => podOf(owner, { name }, { hostname: name }));
  const surplus = all.filter((pod) => isLiving(pod) && !names.includes(pod.metadata.name));
  const isSettled = names.every((name) => {
    const pod = there.get(name);
    return pod && isLiving(pod);
  });
  const outdated = all.find((pod) => names.includes(pod.metadata.name) && !isOf(hash)(pod));
  return { create, remove: [...surplus, ...(isSettled && outdated ? [outdated] : [])] };
}

interface Template {
  readonly metadata?: { readonly labels?: object; readonly annotations?: object };
  readonly spec?: object;
}

const templateOf = ({ spec }: RawObject): Template => (spec?.['template'] ?? {}) as Template;
const templateHash = (owner: RawObject): string =>
  createHash('sha256')
    .update(JSON.stringify(templateOf(owner)))
    .digest('hex')
    .slice(0, 10);

const podOf = (owner: RawObject, name: object, spec: object = {}): object => {
  const template = templateOf(owner);
  const { apiVersion, kind, metadata } = owner;
  return {
    metadata: {
      ...template.metadata,
      labels: { ...template.metadata?.labels, [hashLabel]: templateHash(owner) },
      ...name,
      ownerReferences: [{ apiVersion, kind, name: metadata.name, uid: metadata.uid, controller: true }],
    },
    spec: { ...template.spec, ...spec },
  };
};

function statusOf(owner: RawObject, all: readonly RawObject[]): Fields {
  const pods = all.filter(isLiving);
  const ready = pods.filter(isReady).length;
  return {
    observedGeneration: owner.metadata.generation,
    replicas: pods.length,
    updatedReplicas: pods.filter(isOf(templateHash(owner))).length,
    readyReplicas: ready,
    availableReplicas: ready,
  };
}
