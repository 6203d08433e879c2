/** Watches every write of an output: who makes it, and whether it takes away what is alive. */
import type { Store } from '#infra/local/apiserver/store.ts';
import type { ApiKind, ApiObject, ClusterApi, ListQuery } from '#shared/clusters/api/port.ts';
import type { ZoneAway } from '#shared/clusters/zones-away.ts';
import { withOptInSelector } from '#shared/controllers/opt-in/writer.ts';
import { shouldPodBeInEndpoints } from '#shared/kube/pods.ts';
import { decodeProjection, encodeProjection } from '#shared/kube/projection/projection.ts';
import type { EndpointSlice, Pod, Service } from '#shared/kube/types.ts';
import type { OutgoingMessage } from '#shared/queue/port.ts';
import type { Pods } from '#shared/store/inputs/namespace-pods.ts';
import { objectKey, objectsOf, workKey } from '#shared/store/keys.ts';
import type { Change, Item, Table } from '#shared/store/table.ts';
import { versionOf } from '#shared/store/version.ts';
import { beginsRebuilt } from '#test/worlds/simulation/faults/clocks.ts';
import { isLiedTo, type Profile } from '#test/worlds/simulation/faults/profile.ts';
import { comparedZone } from '#test/worlds/simulation/faults/zones.ts';
import type { Actor } from '#test/worlds/simulation/world/actor.ts';
import type { Writing } from '#test/worlds/simulation/world/ports.ts';
import type { Raised } from './left-behind.ts';
import { deniesEndpoint, type ListedPods } from './listed-pods.ts';
import { ListedSlices, serviceAskedFor } from './listed-slices.ts';
import { PodReads } from './pod-reads.ts';
import { isEndpoint, podByUid, shownPods } from './truth.ts';

export interface Monitor {
  readonly writing: Writing;
  /** A run of sync sends wake-ups to the cluster. */
  readonly sends?: (actor: Actor, messages: readonly OutgoingMessage[]) => void;
  /** Remembers what a process reads of the snapshot. */
  readonly witness: (actor: Actor, table: Table) => Table;
  /** Remembers which pods and slices a worker is shown by the cluster. */
  readonly witnessApi: (actor: Actor, api: ClusterApi, cluster: string) => ClusterApi;
  /** Remembers what a worker is given of the pods that its process keeps. */
  readonly witnessPods: (actor: Actor, pods: Pods) => Pods;
  readonly writes: () => number;
  /** To be called at the end. */
  readonly finish: () => void;
  /** Did the node come or go after the start? */
  readonly isRestless: (node: string) => boolean;
  /** Who raised a work item last, by partition. */
  readonly raisedBy: ReadonlyMap<string, Raised>;
  /** How long what a late worker took away was missing, in ms. */
  readonly lateRemovals: () => readonly number[];
}

export interface Monitored {
  readonly cluster: string;
  readonly store: Store;
  readonly table: Table;
  readonly profile: Profile;
  readonly fail: (what: string) => void;
  readonly isBeginning: () => boolean;
  /** When the cluster went back to what it was before, ms since the epoch. */
  readonly wentBackAt: () => number;
  readonly wrote: (namespace: string, service: string) => void;
}

/** The outputs of a Service in one kind. */
interface OutputsOf {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

const zonesIn = (text: unknown): readonly ZoneAway[] => (typeof text === 'string' ? JSON.parse(text) : []);

/** A run that began before the end of a zone's time, by its own clock, has ended after this, ms. */
const runsEndMs = 60_000;

export function monitor(monitored: Monitored): Monitor {
  const { cluster, store, table, profile, fail, isBeginning, wentBackAt, wrote } = monitored;
  let writes = 0;
  const lostIncarnation = versionOf(beginsRebuilt(profile) ? 2 : 1, '0').slice(0, 6);
  const missing = new Map<string, number>();
  const lateRemovals: number[] = [];
  /** Taken out of one slice, and to be in another of the same run. */
  const moving = new Map<
    string,
    { readonly actor: Actor; readonly what: string; readonly at: number; readonly isDue: () => boolean }
  >();
  let unboundAt: number | undefined;
  const raisedBy = new Map<string, Raised>();
  /** Nodes that were not always there: without its node a pod is in no slice (ES-32). */
  const restless = new Set<string>();
  store.watch('Node', ({ object }) => void (!isBeginning() && restless.add(object.metadata.name)));

  /** Until when runs may leave the pods of a Node out, because its zone is away. By zone, which has its name. */
  const awayUntil = new Map<string, number>();

  const zonesRecorded = ({ set = {} }: Change): void => {
    for (const { zone, untilMs } of [...zonesIn(set['awayOps']), ...zonesIn(set['awayArc'])])
      awayUntil.set(zone, untilMs + runsEndMs);
  };

  /** As a worker found them at first. Each Node is a zone. */
  const shiftsKnown = new WeakMap<Actor, readonly ZoneAway[]>();

  /** A zone from which a shift takes the traffic, or has lately, is not compared. */
  function compared(actor: Actor, differences: string): void {
    const zone = comparedZone(differences, shiftsKnown.get(actor) ?? [], actor.now);
    if (zone) fail(`${actor.name} compares ${zone}, the zone of a shift: ${differences}`);
  }

  const podReads = new PodReads();
  const listedSlices = new ListedSlices();

  const witness = (actor: Actor, inner: Table): Table => {
    const remember = (key: string, items: readonly Item[]): void => {
      actor.learn(key, items);
    };
    return {
      ...inner,
      async get(key) {
        const item = await inner.get(key);
        if (key.sk === 'META' && item && !shiftsKnown.has(actor))
          shiftsKnown.set(actor, zonesIn(item['awayArc']));
        if (key.pk.includes('#SVC#')) remember(`${key.pk}|${key.sk}`, item ? [item] : []);
        if (key.pk.includes('#POD#')) podReads.add(actor, { ...key, items: item ? [item] : [] });
        return item;
      },
      async put(item, condition) {
        const before =
          buriesPods && item.pk.includes('#POD#') && item['o'] === undefined
            ? await inner.get(item)
            : undefined;
        if (item.pk.includes('#SHADOW#')) compared(actor, String(item['text']));
        const held = await inner.put(item, condition);
        if (held && before) buried(actor, before, item);
        return held;
      },
      async update(key, change, condition) {
        const item = await inner.update(key, change, condition);
        if (item && key.sk === 'META') zonesRecorded(change);
        if (item && key.sk === 'META' && change.set?.['unbound'] !== undefined) unboundAt ??= actor.now;
        const raises = change.add?.['gen'] !== undefined || change.set?.['gen'] !== undefined;
        if (item && raises) raisedBy.set(key.pk, { actor, gen: item['gen'] as number });
        return item;
      },
      async query(pk, range) {
        const items = await inner.query(pk, range);
        if (pk.includes('#POD#')) {
          remember(pk, items);
          podReads.add(actor, { pk, sk: undefined, items });
        }
        return items;
      },
    };
  };

  /**
   * Pods that are alive, and were not on the word of a list that takes more away than may be believed. By
   * worker and version of the list.
   */
  const buriesPods = profile.lies === 'empty';
  const graves = new Map<string, number>();
  function buried(actor: Actor, before: Item, item: Item): void {
    if (typeof before['o'] !== 'string') return;
    const namespace = item.pk.slice(item.pk.indexOf('#POD#') + 5);
    const { uid = '' } = decodeProjection('Pod', namespace, item.sk, before['o']).metadata;
    if (!podByUid(store, namespace, uid)) return;
    const list = `${actor.name} ${item['v']}`;
    const count = (graves.get(list) ?? 0) + 1;
    graves.set(list, count);
    if (count > profile.limits.ingest.suspiciousCount)
      fail(`${actor.name} took away ${count} pods on the word of a relay that confirmed itself`);
  }

  const witnessApi = (actor: Actor, api: ClusterApi): ClusterApi => ({
    ...api,
    async list<K extends ApiKind, T>(kind: K, namespace: string, query?: ListQuery<ApiObject[K], T>) {
      const list = await api.list(kind, namespace, query);
      const items = list.items as readonly unknown[];
      if (kind === 'Pod')
        shown.set(actor, [
          ...(shown.get(actor) ?? []),
          { namespace, selector: query?.labels, pods: items as readonly Pod[] },
        ]);
      const service = serviceAskedFor(query);
      if (kind === 'EndpointSlice' && service)
        listedSlices.listed(actor, namespace, service, items as readonly EndpointSlice[]);
      return list;
    },
    replace: (kind, object) => {
      if (kind === 'EndpointSlice' && !actor.paused)
        listedSlices.written(object.metadata.namespace ?? '', object.metadata.name);
      return api.replace(kind, object);
    },
    delete: (kind, namespace, name, preconditions) => {
      if (kind === 'EndpointSlice' && !actor.paused) listedSlices.written(namespace, name);
      return api.delete(kind, namespace, name, preconditions);
    },
  });
  const shown = new WeakMap<Actor, ListedPods[]>();
  const beforeWrites = new WeakMap<Actor, Map<string, number>>();

  const witnessPods = (actor: Actor, pods: Pods): Pods => ({
    async podsOf(store, namespace, maxBytes) {
      const read = await pods.podsOf(store, namespace, maxBytes);
      const pk = objectsOf(store.cluster, 'Pod', namespace);
      const items = read.map(({ name, pod }) => ({ pk, sk: name, o: encodeProjection('Pod', pod) }));
      actor.learn(pk, items);
      return read;
    },
  });

  /**
   * Returns the number of endpoints before the worker's first write, without endpoints that the worker adds
   * before a delete.
   */
  const firstShown = (actor: Actor, outputs: string, all: number): number => {
    const counts = beforeWrites.get(actor) ?? new Map<string, number>();
    beforeWrites.set(actor, counts);
    if (!counts.has(outputs)) counts.set(outputs, all);
    return counts.get(outputs) as number;
  };

  const writing: Writing = async (actor, kind, namespace, service) => {
    writes++;
    clock = actor;
    missed(now() - 10_000);
    const work = await table.get(workKey({ cluster, namespace, kind: 'service', name: service }));
    const holder = work?.['lease'] as string | undefined;
    const before = shownPods(store, kind, { namespace, name: service }, profile.optIn);
    return () => {
      // A request that its worker gave up may reach the API server after the run (docs/develop/architecture.md, "Not
      // guaranteed").
      const isLate = actor.paused || actor.abandonedCalls > 0;
      if (!holder?.startsWith(`${actor.name}/`) && !isLate && service !== '') {
        fail(
          `two writers: ${actor.name} writes ${kind} of ${namespace}/${service}, whose lease is ${holder ?? 'nobody'}'s`,
        );
      }
      if (!actor.paused) podReads.written(actor, `${namespace}/${service}`);
      const after = shownPods(store, kind, { namespace, name: service }, profile.optIn);
      if (after.all !== before.all || after.ready.size !== before.ready.size) wrote(namespace, service);
      for (const uid of after.ready) restored(`${kind} ${namespace}/${service} ${uid}`);
      const gone = [...before.ready].filter((uid) => !after.ready.has(uid));
      const { massRemovalMinEndpoints, massRemovalKeepRatio } = profile.limits.sync;
      const had = Math.min(before.all, firstShown(actor, `${kind} ${namespace}/${service}`, before.all));
      const guarded = had >= massRemovalMinEndpoints && after.all < had * massRemovalKeepRatio;
      for (const uid of gone) removed(actor, { kind, namespace, name: service }, uid, guarded);
    };
  };

  /**
   * A run that has not put back in time what it took away never will. It may have died, been paused beyond
   * its lease, or been refused its next write, as upstream may be.
   */
  function missed(before: number): void {
    for (const [key, { actor, what, at, isDue }] of moving) {
      if (at > before) continue;
      moving.delete(key);
      if (!actor.dead && !actor.paused && !actor.stumbled && isDue()) fail(what);
    }
  }

  function restored(key: string): void {
    moving.delete(key);
    const since = missing.get(key);
    if (since === undefined) return;
    missing.delete(key);
    lateRemovals.push(now() - since);
  }

  /** Returns true until the relay has reported, and all runs with the former mode have ended. */
  const isUnheardOf = (): boolean =>
    now() >= wentBackAt() && (unboundAt === undefined || now() - unboundAt < 15_000);

  let clock: Actor | undefined;
  const now = (): number => clock?.now ?? 0;

  function removed(actor: Actor, outputs: OutputsOf, uid: string, guarded: boolean): void {
    const { kind, namespace, name } = outputs;
    clock = actor;
    const pod = podByUid(store, namespace, uid);
    const service = store.find('Service', namespace, name);
    if (!pod || !isEndpoint(pod, asWritten(kind, service))) return;
    if (kind !== 'Endpoints' && restless.has(pod.spec?.nodeName ?? '')) return;
    const isAway = now() < (awayUntil.get(pod.spec?.nodeName ?? '') ?? 0);
    if (isAway && (actor.paused || hasSeenElsewhere(actor, outputs, pod))) return;
    if (actor.paused) {
      missing.set(`${kind} ${namespace}/${name} ${uid}`, now());
      return;
    }
    // "No step back" (docs/develop/architecture.md): a hand-over checks pods of deleted slices only. If a remaining
    // slice had the pod, another client has changed that slice since, and the precondition of a delete covers
    // only the deleted slice ("Not guaranteed").
    if (kind === 'EndpointSlice' && listedSlices.showReady(actor, namespace, name, uid)) return;
    const why = wronged(actor, outputs, pod, guarded);
    if (why !== undefined) report(actor, outputs, uid, why);
  }

  /** A pod of a zone that is away may go only if the worker has seen one elsewhere that can stay. */
  function hasSeenElsewhere(actor: Actor, { kind, namespace, name }: OutputsOf, pod: Pod): boolean {
    const service = asWritten(kind, store.find('Service', namespace, name));
    const read = (actor.known.get(objectsOf(cluster, 'Pod', namespace)) ?? []).flat();
    const pods = [
      ...read.flatMap(({ sk, o }) =>
        typeof o === 'string' ? [decodeProjection('Pod', namespace, sk, o)] : [],
      ),
      ...(shown.get(actor) ?? []).filter((list) => list.namespace === namespace).flatMap(({ pods }) => pods),
    ];
    const publishes = service?.spec?.publishNotReadyAddresses === true;
    return pods.some(
      (other) =>
        other.spec?.nodeName !== pod.spec?.nodeName &&
        (publishes ? shouldPodBeInEndpoints(other, false) : isEndpoint(other, service)),
    );
  }

  /** Undefined: the worker could not know that the pod is an endpoint. */
  function wronged(actor: Actor, outputs: OutputsOf, pod: Pod, guarded: boolean): string | undefined {
    const { kind, namespace, name } = outputs;
    const { uid } = pod.metadata;
    const service = store.find('Service', namespace, name);
    const what = `${actor.name} removed ${pod.metadata.name} (${uid}), alive and ready, from ${kind} of ${namespace}/${name}`;
    const known = servicesKnown(actor, kind, namespace, name);
    if (known.some((s) => explains(s, service as Service, pod))) return undefined;
    const reads = podReads.sinceOthersWrote(
      actor,
      `${namespace}/${name}`,
      objectKey(cluster, 'Pod', namespace, pod.metadata.name),
    );
    if (reads.length === 0 && !shown.has(actor))
      return `${what}, without a read of its record since another worker wrote`;
    // Such lists lie about any number of pods; what is promised is that a service does not lose most of many
    // at once.
    if (isLiedTo(profile) && !guarded) return undefined;
    return isUnheardOf() || !knewBetter(actor, known, pod, reads) ? undefined : what;
  }

  function report(actor: Actor, { kind, namespace, name }: OutputsOf, uid: string, what: string): void {
    const isDue = (): boolean => {
      const [podNow, serviceNow] = [podByUid(store, namespace, uid), store.find('Service', namespace, name)];
      return podNow !== undefined && isEndpoint(podNow, asWritten(kind, serviceNow));
    };
    // A slice whose ports changed is written over before the one is written that shows its endpoints now
    // (ES-55, ES-57).
    if (kind === 'EndpointSlice')
      moving.set(`${kind} ${namespace}/${name} ${uid}`, { actor, what, at: now(), isDue });
    else fail(what);
  }

  /** A service that opts in has slices by its annotation, and no Endpoints. */
  const asWritten = (kind: string, service: Service | undefined): Service | undefined =>
    service && kind === 'EndpointSlice' ? withOptInSelector(service, profile.optIn) : service;

  /** Each record that it has read of the Service, however old: the Service, a tombstone, or nothing. */
  function servicesKnown(
    actor: Actor,
    kind: string,
    namespace: string,
    name: string,
  ): readonly (Service | Item | undefined)[] {
    const { pk, sk } = objectKey(cluster, 'Service', namespace, name);
    return (actor.known.get(`${pk}|${sk}`) ?? []).map(([item]) =>
      item && typeof item['o'] === 'string'
        ? asWritten(kind, decodeProjection('Service', namespace, name, item['o']))
        : item,
    );
  }

  /**
   * Returns true for a tombstone, a former service of that name, or a service that does not select the pod.
   */
  const explains = (known: Service | Item | undefined, service: Service, pod: Pod): boolean =>
    known !== undefined &&
    (!('metadata' in known) ||
      (known as Service).metadata.uid !== service.metadata.uid ||
      !isEndpoint(pod, known as Service));

  /**
   * Returns true if all of the process's reads of the pod since another worker's write make the pod an
   * endpoint of the service.
   */
  function knewBetter(
    actor: Actor,
    services: readonly (Service | Item | undefined)[],
    pod: Pod,
    reads: readonly (Item | undefined)[],
  ): boolean {
    const liedTo = isLiedTo(profile);
    const { namespace = '' } = pod.metadata;
    // The worker asked the API server for the service's pods, and the answer did not show this one as an
    // endpoint.
    const known = services.filter((s): s is Service => s !== undefined && 'metadata' in s);
    if (liedTo && (shown.get(actor) ?? []).some((list) => deniesEndpoint(list, pod, known))) return false;
    if (profile.lies === 'ending') return true;
    return reads.every((item) => {
      // No run goes on by the lost history: there is doubt about the cluster until its pods are listed in the
      // new one.
      if (now() >= wentBackAt() && String(item?.['v']).startsWith(lostIncarnation)) return true;
      if (!item) return true;
      if (typeof item['o'] !== 'string') return liedTo;
      const seen = decodeProjection('Pod', namespace, pod.metadata.name, item['o']);
      return (
        seen.metadata.uid === pod.metadata.uid && services.every((s) => !s || isEndpoint(seen, s as Service))
      );
    });
  }

  return {
    writing,
    witness,
    witnessApi,
    witnessPods,
    writes: () => writes,
    finish: () => missed(Number.POSITIVE_INFINITY),
    isRestless: (node) => restless.has(node),
    raisedBy,
    lateRemovals: () => lateRemovals,
  };
}
