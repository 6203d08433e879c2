/**
 * A demonstration workload for an embedded cluster: a small shop whose pods start, become ready, are replaced
 * by rolling updates and stop. One pod flaps. Three Services cannot be reached, each by a mistake of its own.
 * A person can change everything with kubectl.
 */
import type { StoreKind } from '../apiserver/api-kinds.ts';
import type { Store } from '../apiserver/store.ts';
import { startKubelets } from './kubelets.ts';
import { embeddedRange } from './pod-ranges.ts';
import {
  type App,
  apps,
  brokenApps,
  exported,
  flapping,
  node,
  nodeName,
  release,
  service,
  workload,
  workloadKindOf,
  zones,
} from './workload-apps.ts';
import { startWorkloadControllers } from './workload-controllers.ts';

export interface WorkloadOptions {
  readonly signal: AbortSignal;
  readonly log: (line: string) => void;
  /** Factor of the pace, 1 by default. A person can follow the default. */
  readonly speed?: number;
  /** Range of the pods' addresses: by default the first embedded cluster's. */
  readonly range?: { readonly v4: string; readonly v6: string };
  /** Exports one of the Services (docs/use/clusterset.md). */
  readonly exports?: boolean;
}

/** Creates all objects. The workload keeps changing until the signal aborts. */
export function startWorkload(
  store: Store,
  { signal, log, speed = 1, range = embeddedRange(0), exports }: WorkloadOptions,
): void {
  const after = afterPause(signal, speed, log);
  const kubelets = startKubelets({ store, after, range });
  startWorkloadControllers({ store, after });
  createAll(store, exports === true);
  const all = [...apps, ...brokenApps];
  const pods = all.reduce((sum, { replicas }) => sum + replicas, 0);
  log(`workload: ${all.length} services and ${pods} pods on ${zones.length} nodes`);

  const updateNext = (round: number): void =>
    after(15, () => {
      const app = apps[round % apps.length] as App;
      const kind = workloadKindOf(app);
      // A person may have deleted it.
      if (store.find(kind, app.namespace, app.name)) {
        log(`workload: rolling update of ${app.namespace}/${app.name}`);
        store.patch(kind, app, release(app, `v${round + 2}`), { ...writer, type: 'strategic' });
      }
      updateNext(round + 1);
    });
  updateNext(0);

  const flap = (): void =>
    after(4, () => {
      const { namespace, name } = flapping;
      const [pod] = store
        .list('Pod', namespace)
        .filter(({ metadata }) => metadata.labels?.['app'] === name && !metadata.deletionTimestamp);
      const setProbe = (succeeds: boolean): void => {
        if (pod) kubelets.setProbe(namespace, pod.metadata.name, succeeds);
      };
      setProbe(false);
      after(4, () => setProbe(true));
      after(4, flap);
    });
  flap();
}

const writer = { manager: 'fleet-endpoints-workload' };

function createAll(store: Store, exports: boolean): void {
  const all = [...apps, ...brokenApps];
  const create = (kind: StoreKind, namespace: string, object: object) =>
    store.create(kind, namespace, object, writer);
  for (const [i, zone] of zones.entries()) create('Node', '', node(nodeName(i), zone));
  for (const name of new Set(all.map((a) => a.namespace))) create('Namespace', '', { metadata: { name } });
  for (const app of all) create('Service', app.namespace, service(app));
  for (const app of all) create(workloadKindOf(app), app.namespace, workload(app));
  if (exports) create('ServiceExport', exported.namespace, { metadata: { name: exported.name } });
}

/** An error of one step, for instance of a pod that a person has just deleted, ends no other step. */
function afterPause(signal: AbortSignal, speed: number, log: (line: string) => void) {
  const timers = new Set<NodeJS.Timeout>();
  signal.addEventListener('abort', () => timers.forEach(clearTimeout), { once: true });
  return (seconds: number, callback: () => void): void => {
    if (signal.aborted) return;
    const timer = setTimeout(
      () => {
        timers.delete(timer);
        try {
          callback();
        } catch (e) {
          log(`workload: ${(e as Error).message}`);
        }
      },
      (seconds * 1000) / speed,
    );
    timers.add(timer);
  };
}
