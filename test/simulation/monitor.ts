/** Watches every write of an output: who makes it, and whether it takes away what is alive. */

import type { Pods } from '#functions/sync/pod-cache.ts';
import type { Store } from '#infra/local/apiserver/store.ts';
import { decodeProjection, encodeProjection } from '#shared/kube/projection.ts';
import type { Pod, Service } from '#shared/kube/types.ts';
import { objectKey, objectsOf, workKey } from '#shared/snapshot/keys.ts';
import type { Item, Table } from '#shared/snapshot/table.ts';
import type { Actor } from './actor.ts';
import type { Writing } from './ports.ts';
import type { Profile } from './profile.ts';
import { isEndpoint, podByUid, shownPods } from './truth.ts';

export interface Monitor {
  readonly writing: Writing;
  /** Remembers what a process reads of the snapshot. */
  readonly witness: (actor: Actor, table: Table) => Table;
  /** Remembers what a worker is given of the pods that its process keeps. */
  readonly witnessPods: (actor: Actor, pods: Pods) => Pods;
  readonly writes: () => number;
  /** To be called at the end. */
  readonly finish: () => void;
  /** Did the node come or go after the start? */
  readonly isRestless: (node: string) => boolean;
  /** Who raised a work item last, by partition. */
  readonly raisedBy: ReadonlyMap<string, { readonly actor: Actor; readonly gen: number }>;
  /** How long what a late worker took away was missing, in ms. */
  readonly lateRemovals: () => readonly number[];
}

export function monitor(
  cluster: string,
  store: Store,
  table: Table,
  profile: Profile,
  fail: (what: string) => void,
  isBeginning: () => boolean,
  /** When the cluster went back to what it was before, ms since the epoch. */
  wentBackAt: () => number,
): Monitor {
  let writes = 0;
  const missing = new Map<string, number>();
  const lateRemovals: number[] = [];
  /** Taken out of one slice, and to be in another of the same run. */
  const moving = new Map<string, { readonly actor: Actor; readonly what: string; readonly at: number }>();
  let heardAt: number | undefined;
  const raisedBy = new Map<string, { readonly actor: Actor; readonly gen: number }>();
  /** Nodes that were not always there: without its node a pod is in no slice (ES-32). */
  const restless = new Set<string>();
  store.watch('Node', ({ object }) => void (!isBeginning() && restless.add(object.metadata.name)));

  const witness = (actor: Actor, inner: Table): Table => {
    const remember = (key: string, items: readonly Item[]): void => {
      actor.known.set(key, [...(actor.known.get(key) ?? []), items]);
    };
    return {
      ...inner,
      async get(key) {
        const item = await inner.get(key);
        if (key.pk.includes('#SVC#')) remember(`${key.pk}|${key.sk}`, item ? [item] : []);
        return item;
      },
      async update(key, change, condition) {
        const item = await inner.update(key, change, condition);
        if (item && key.sk === 'META' && change.set?.['suspect'] !== undefined) heardAt ??= actor.now;
        const raises = change.add?.['gen'] !== undefined || change.set?.['gen'] !== undefined;
        if (item && raises) raisedBy.set(key.pk, { actor, gen: item['gen'] as number });
        return item;
      },
      async query(pk, range) {
        const items = await inner.query(pk, range);
        if (pk.includes('#POD#')) remember(pk, items);
        return items;
      },
    };
  };

  const witnessPods = (actor: Actor, pods: Pods): Pods => ({
    async podsOf(inner, id, namespace, now, scope) {
      const kept = await pods.podsOf(inner, id, namespace, now, scope);
      const pk = objectsOf(id, 'Pod', namespace);
      const items = [...kept.values()].map((pod) => ({ pk, sk: pod.metadata.name, o: encodeProjection('Pod', pod) }));
      actor.known.set(pk, [...(actor.known.get(pk) ?? []), items]);
      return kept;
    },
  });

  const writing: Writing = async (actor, kind, namespace, service) => {
    writes++;
    clock = actor;
    missed(now() - 10_000);
    const work = await table.get(workKey(cluster, namespace, service));
    const holder = work?.['lease'] as string | undefined;
    const before = shownPods(store, kind, namespace, service);
    return () => {
      if (!holder?.startsWith(`${actor.name}/`) && !actor.paused && service !== '') {
        fail(`two writers: ${actor.name} writes ${kind} of ${namespace}/${service}, whose lease is ${holder ?? 'nobody'}'s`);
      }
      const after = shownPods(store, kind, namespace, service);
      for (const uid of after.ready) restored(`${kind} ${namespace}/${service} ${uid}`);
      const gone = [...before.ready].filter((uid) => !after.ready.has(uid));
      const braked = before.all >= 10 && after.all < before.all / 2;
      for (const uid of gone) removed(actor, kind, namespace, service, uid, braked);
    };
  };

  /** A run that has not put back in time what it took away, and neither died nor was refused its next write, as upstream may be, never will. */
  function missed(before: number): void {
    for (const [key, { actor, what, at }] of moving) {
      if (at > before) continue;
      moving.delete(key);
      if (!actor.dead && !actor.stumbled) fail(what);
    }
  }

  function restored(key: string): void {
    moving.delete(key);
    const since = missing.get(key);
    if (since === undefined) return;
    missing.delete(key);
    lateRemovals.push(now() - since);
  }

  /** Until the relay's word has come, and whoever read the mode before it has ended. */
  const isUnheardOf = (): boolean => now() >= wentBackAt() && (heardAt === undefined || now() - heardAt < 15_000);

  let clock: Actor | undefined;
  const now = (): number => clock?.now ?? 0;

  function removed(actor: Actor, kind: string, namespace: string, name: string, uid: string, braked: boolean): void {
    clock = actor;
    const pod = podByUid(store, namespace, uid);
    const service = store.find('Service', namespace, name) as unknown as Service | undefined;
    if (!pod || !isEndpoint(pod, service)) return;
    if (kind !== 'Endpoints' && restless.has(pod.spec?.nodeName ?? '')) return;
    if (actor.paused) {
      missing.set(`${kind} ${namespace}/${name} ${uid}`, now());
      return;
    }
    // Such lists lie about any number of pods; what is promised is that a service does not lose most of many at once.
    if (profile.shrunkenLists && !braked) return;
    if (isUnheardOf()) return;
    if (!knewBetter(actor, namespace, name, pod, service as Service, profile.shrunkenLists)) return;
    const what = `${actor.name} removed ${pod.metadata.name} (${uid}), alive and ready, from ${kind} of ${namespace}/${name}`;
    // A slice whose ports changed is written over before the one is written that shows its endpoints now (ES-55, ES-57).
    if (kind === 'EndpointSlice') moving.set(`${kind} ${namespace}/${name} ${uid}`, { actor, what, at: now() });
    else fail(what);
  }

  /** It had no word, however old, that the pod is no endpoint of the service. */
  function knewBetter(actor: Actor, namespace: string, name: string, pod: Pod, service: Service, liedTo: boolean): boolean {
    const { pk, sk } = objectKey(cluster, 'Service', namespace, name);
    const services = actor.known.get(`${pk}|${sk}`) ?? [];
    const podReads = actor.known.get(objectsOf(cluster, 'Pod', namespace)) ?? [];
    const servicesKnown = services.map(([item]) =>
      item && typeof item['o'] === 'string' ? decodeProjection('Service', namespace, name, item['o']) : item,
    );
    for (const known of servicesKnown) {
      // A tombstone, or a service of that name from before.
      if (known && !('metadata' in known)) return false;
      if (known && ((known as Service).metadata.uid !== service.metadata.uid || !isEndpoint(pod, known as Service))) return false;
    }
    for (const items of podReads) {
      const item = items.find((i) => i.sk === pod.metadata.name);
      if (!item || (liedTo && typeof item['o'] !== 'string')) continue;
      if (typeof item['o'] !== 'string') return false;
      const seen = decodeProjection('Pod', namespace, pod.metadata.name, item['o']);
      if (seen.metadata.uid !== pod.metadata.uid) return false;
      if (servicesKnown.some((s) => s && !isEndpoint(seen, s as Service))) return false;
    }
    return true;
  }

  return {
    writing,
    witness,
    witnessPods,
    writes: () => writes,
    finish: () => missed(Number.POSITIVE_INFINITY),
    isRestless: (node) => restless.has(node),
    raisedBy,
    lateRemovals: () => lateRemovals,
  };
}
