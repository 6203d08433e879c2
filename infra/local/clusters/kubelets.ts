/**
 * Does for the pods of an embedded cluster what scheduler and kubelets do: gives them a node and addresses,
 * reports their readiness, and confirms their end. It follows the store, so it serves the pods of whoever
 * creates them.
 */
import type { Fields, RawObject } from '../apiserver/api-kinds.ts';
import type { Store } from '../apiserver/store.ts';
import { gatesOf, isStarted, readinessStatus, startedStatus } from './pod-status.ts';
import { isDualStack } from './workload-apps.ts';

export interface KubeletOptions {
  readonly store: Store;
  /** Calls back after so many seconds, unless the run ends. */
  readonly after: (seconds: number, callback: () => void) => void;
  /** Range of the pods' addresses. */
  readonly range: { readonly v4: string; readonly v6: string };
}

export interface Kubelets {
  /** The readiness probe of a pod fails, or succeeds again. */
  readonly setProbe: (namespace: string, name: string, succeeds: boolean) => void;
}

export function startKubelets({ store, after, range }: KubeletOptions): Kubelets {
  let pods = 0;
  const failing = new Set<string>();
  const find = ({ metadata }: RawObject): RawObject | undefined => {
    const found = store.find('Pod', metadata.namespace, metadata.name);
    return found?.metadata.uid === metadata.uid ? found : undefined;
  };
  const report = (pod: RawObject, status: Fields): void => {
    const { namespace = '', name } = pod.metadata;
    store.patch(
      'Pod',
      { namespace, name },
      { status },
      { type: 'strategic', manager: 'kubelet', subresource: 'status' },
    );
  };
  const reportReadiness = (pod: RawObject): void => {
    const { uid = '' } = pod.metadata;
    const probes = !failing.has(uid) && !pod.metadata.deletionTimestamp;
    const status = readinessStatus(pod, probes, now());
    if (status) report(pod, status);
  };

  /** Resolves to false without a node. */
  function isScheduled(pod: RawObject): boolean {
    const { namespace = '', name } = pod.metadata;
    const chosen = pod.spec?.['nodeName'] ?? nodeFor(store, pod);
    if (chosen === undefined) return false;
    if (!pod.spec?.['nodeName'])
      store.patch(
        'Pod',
        { namespace, name },
        { spec: { nodeName: chosen } },
        {
          manager: 'kube-scheduler',
        },
      );
    return true;
  }

  function begin(pod: RawObject): void {
    if (!isScheduled(pod)) {
      const message = '0/0 nodes are available';
      report(pod, { conditions: [scheduled('False', { reason: 'Unschedulable', message })] });
      after(5, () => find(pod) && begin(pod));
      return;
    }
    const n = 10 + (pods++ % 60_000);
    report(pod, { conditions: [scheduled('True', { reason: null, message: null })] });
    after(0.1, () => {
      const bound = find(pod);
      if (!bound) return;
      const ips = [
        `${range.v4}.${n >> 8}.${n & 255}`,
        ...(isDualStack(pod) ? [`${range.v6}::${n.toString(16)}`] : []),
      ];
      report(bound, {
        ...startedStatus(bound, now()),
        podIP: ips[0],
        podIPs: ips.map((ip) => ({ ip })),
      });
      after(0.4 + (n % 5) * 0.2, () => {
        const running = find(pod);
        if (running) reportReadiness(running);
      });
    });
  }

  /** A pod answers requests for a second after the deletion, and needs another one to end. */
  function end(pod: RawObject): void {
    after(1, () => {
      const ending = find(pod);
      if (ending) reportReadiness(ending);
      after(1, () => {
        if (!find(pod)) return;
        const { namespace = '', name, uid = '' } = pod.metadata;
        failing.delete(uid);
        store.delete('Pod', namespace, name, { gracePeriodSeconds: 0 });
      });
    });
  }

  store.watch('Pod', ({ type, object, previous }) => {
    // What follows is a write of its own, after the one that is being reported.
    if (type === 'ADDED') after(0, () => find(object) && begin(object));
    if (type !== 'MODIFIED' || !previous) return;
    if (object.metadata.deletionTimestamp && !previous.metadata.deletionTimestamp) end(object);
    else if (isStarted(object) && gatesOf(object) !== gatesOf(previous))
      after(0, () => {
        const current = find(object);
        if (current) reportReadiness(current);
      });
  });

  return {
    setProbe(namespace, name, succeeds) {
      const pod = store.find('Pod', namespace, name);
      if (!pod || pod.metadata.deletionTimestamp) return;
      const { uid = '' } = pod.metadata;
      if (succeeds) failing.delete(uid);
      else failing.add(uid);
      if (isStarted(pod)) reportReadiness(pod);
    },
  };
}

/** The node with the fewest pods of the same owner. */
function nodeFor(store: Store, pod: RawObject): string | undefined {
  const owner = pod.metadata.ownerReferences?.[0]?.uid;
  const count = new Map(store.list('Node').map(({ metadata }) => [metadata.name, 0]));
  for (const { metadata, spec } of store.list('Pod', pod.metadata.namespace)) {
    const node = spec?.nodeName ?? '';
    const isAlike = metadata.ownerReferences?.[0]?.uid === owner && !metadata.deletionTimestamp;
    if (isAlike && count.has(node)) count.set(node, (count.get(node) ?? 0) + 1);
  }
  return [...count].sort(([, a], [, b]) => a - b)[0]?.[0];
}

const scheduled = (status: string, why: Fields): Fields => ({
  type: 'PodScheduled',
  status,
  lastTransitionTime: now(),
  ...why,
});

const now = (): string => new Date().toISOString().replace(/\.\d+Z$/, 'Z');
