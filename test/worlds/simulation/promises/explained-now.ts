/**
 * Compares what `explain` says with the world: at rest each count, place and reason must be the world's, and
 * nothing may be unknown. While the world lives, what is said to be served must have been so a moment ago.
 */

import type { Explanation, PodExplanation } from '#infra/cli/ask/explain/explanation.ts';
import { explainWithInput } from '#infra/cli/ask/explain-service.ts';
import { UsageError } from '#infra/cli/terminal/usage-error.ts';
import type { Store } from '#infra/local/apiserver/store.ts';
import { withOptInSelector, writerOf } from '#shared/controllers/opt-in/writer.ts';
import {
  labelServiceName,
  labelSliceManagedBy,
  optInManagedBy,
  slicesManagedBy,
} from '#shared/kube/names.ts';
import { isPodReady, isPodTerminal, isServing } from '#shared/kube/pods.ts';
import { selectorMatches } from '#shared/kube/selectors/label-selector.ts';
import type { EndpointSlice, Pod, Service } from '#shared/kube/types.ts';
import type { Table } from '#shared/store/table.ts';
import { ordinaryLimits } from '#test/worlds/simulation/faults/draw-limits.ts';
import { isOfTenant } from '#test/worlds/simulation/faults/large-tenant.ts';
import { isLiedTo, type Profile } from '#test/worlds/simulation/faults/profile.ts';
import type { Scheduler } from '#test/worlds/simulation/world/scheduler.ts';

interface Parts {
  readonly table: Table;
  readonly cluster: string;
  readonly store: Store;
  readonly scheduler: Scheduler;
  readonly profile: Profile;
  readonly fail: (what: string) => void;
}

/** What the cluster itself shows of a Service, without a word of the hub's. */
interface Shown {
  readonly service: Service;
  readonly selected: readonly Pod[];
  /** The places of pods in slices of the Service's own writer, by family and name. */
  readonly places: ReadonlyMap<string, 'ready' | 'not ready'>;
  /** Names of the pods that a proxy sends traffic to. */
  readonly reached: ReadonlySet<string>;
  /** The same with the names of pods that are gone, of which the hub may hear later. */
  readonly listed: ReadonlySet<string>;
}

interface Reached extends Pick<Shown, 'reached' | 'listed'> {
  readonly atMs: number;
}

const everyMs = 7_000;
/** Messages and their second receives, a run and its echo. */
const lateMs = 45_000;

export class ExplainedNow {
  readonly #parts: Parts;
  readonly #endsAt: number;
  /** By namespace/name, oldest first: since when. */
  readonly #reached = new Map<string, Reached[]>();
  /** Answers that were compared while the world lived. */
  looks = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
    const { store, scheduler, profile } = parts;
    this.#endsAt = scheduler.now + profile.faultsUntilMs;
    if (!isCalm(profile)) return;
    for (const kind of ['EndpointSlice', 'Service', 'Pod'] as const) store.watch(kind, () => this.#record());
    this.#later();
  }

  #later(): void {
    const { scheduler } = this.#parts;
    if (scheduler.now + everyMs > this.#endsAt) return;
    scheduler.after(everyMs, () => void this.#look().finally(() => this.#later()));
  }

  #record(): void {
    const { store, scheduler } = this.#parts;
    for (const { metadata } of store.list('Service')) {
      const key = `${metadata.namespace}/${metadata.name}`;
      const shown = shownOf(store, metadata.namespace ?? '', metadata.name);
      const all = this.#reached.get(key) ?? [];
      const last = all.at(-1);
      if (
        shown &&
        (textOf(last?.reached) !== textOf(shown.reached) || textOf(last?.listed) !== textOf(shown.listed))
      )
        this.#reached.set(key, [...all, { atMs: scheduler.now, ...shown }]);
    }
  }

  async #look(): Promise<void> {
    for (const { metadata } of this.#parts.store.list('Service')) {
      const { namespace = '', name } = metadata;
      const explanation = isOfTenant(namespace) ? undefined : await this.#explain(namespace, name);
      if (explanation?.answer && !isDoubted(explanation) && !this.#isUnsent(explanation))
        this.#compare(`${namespace}/${name}`, explanation);
    }
  }

  /**
   * In shadow mode the relay of a cluster that was active before sends no content to compare with, and after a
   * hand-back the slices that serve now are still on their way.
   */
  #isUnsent({ summary }: Explanation): boolean {
    return this.#parts.profile.isBeside
      ? summary.includes('a comparison is under way')
      : /own controllers|not confirmed yet/.test(summary);
  }

  /** Each pod that is said to be reached was so within the last moments, and each other was not. */
  #compare(key: string, { pods, summary }: Explanation): void {
    this.looks++;
    const recent = this.#reachedLately(key);
    for (const { pod, reachable, relation } of pods) {
      // One that is listed and no longer serving counts as not reachable, before the controllers have noticed.
      const mayBe =
        recent.some(({ listed, reached }) => (reachable ? listed.has(pod) : !reached.has(pod))) ||
        (!reachable && !this.#isServing(key, pod));
      if (relation !== 'selected' || mayBe) continue;
      const [told, was] = reachable ? ['', 'not '] : ['not ', ''];
      this.#parts.fail(
        `explain ${key}: ${pod} is said to be ${told}reachable, and was ${was}so for ${lateMs / 1000} s: ${summary}`,
      );
    }
  }

  #isServing(key: string, name: string): boolean {
    const [namespace = ''] = key.split('/');
    const found = this.#parts.store.find('Pod', namespace, name) as unknown as Pod | undefined;
    // One that has ended, or that somebody deletes, is still listed as ready for a moment.
    return found !== undefined && isServing(found) && !isPodTerminal(found);
  }

  #reachedLately(key: string): readonly Pick<Shown, 'reached' | 'listed'>[] {
    const { now } = this.#parts.scheduler;
    const all = this.#reached.get(key) ?? [];
    const recent = all.filter((_, i) => (all[i + 1]?.atMs ?? now) >= now - lateMs);
    const isNew = (all[0]?.atMs ?? now) > now - lateMs;
    return isNew ? [{ reached: new Set(), listed: new Set() }, ...recent] : recent;
  }

  async #explain(namespace: string, name: string): Promise<Explanation | undefined> {
    const { table, cluster, scheduler } = this.#parts;
    const key = { cluster, namespace, name };
    const found = await explainWithInput(table, key, scheduler.now).catch((error: unknown) => {
      // The hub has not received the Service yet.
      if (error instanceof UsageError) return undefined;
      throw error;
    });
    return found?.explanation;
  }

  /** With a live relay, whole lists and nothing under way. */
  async errors(): Promise<readonly string[]> {
    const { store, profile } = this.#parts;
    const wrong: string[] = [];
    for (const { metadata } of store.list('Service')) {
      const { namespace = '', name } = metadata;
      if (isOfTenant(namespace)) continue;
      const explanation = await this.#explain(namespace, name);
      const shown = shownOf(store, namespace, name);
      // The outputs of a Service whose own message came late, after a worker's pause, may stay known until the
      // next list.
      const isMissed =
        profile.isBeside && profile.pauses > 0 && /something different/.test(explanation?.summary ?? '');
      if (!shown || isMissed) continue;
      const errors = explanation ? errorsIn(explanation, shown, profile) : ['it is not known'];
      wrong.push(...errors.map((text) => `${namespace}/${name}: ${text}; ${explanation?.summary}`));
    }
    return wrong;
  }
}

/**
 * Worlds in which what the hub knows is seldom old: nothing lies, goes back, or stands still for long, and no
 * worker dies between a write and its record.
 */
const isCalm = (profile: Profile): boolean =>
  !isLiedTo(profile) &&
  profile.goesBack === 'never' &&
  profile.culprit === 'none' &&
  profile.crashes + profile.pauses + profile.stalls + profile.hangs + profile.refusals === 0 &&
  // After a write without an answer the hub does not know what is served, until its circuit closes.
  profile.apiFailures +
    profile.relayKills +
    profile.relayFaults +
    profile.outageMs +
    profile.silentApiMs +
    profile.ingestOutageMs ===
    0;

const isDoubted = ({ summary }: Explanation): boolean =>
  /is silent|not known|nothing runs until the first lists/.test(summary);

function errorsIn(explanation: Explanation, shown: Shown, profile: Profile): readonly string[] {
  const { answer, pods, summary } = explanation;
  const { service, selected, reached } = shown;
  const { by } = writerOf(service);
  const isFollowed = service.spec?.type !== 'ExternalName' && (by === 'built-in' || by === 'opt-in');
  // The hub does not read what others write for a Service that it does not write.
  if (!isFollowed) return [];
  const errors: string[] = [];
  const is = (what: string, told: unknown, world: unknown): void => {
    if (told !== world) errors.push(`${what}: told is ${told}, and the world has ${world}`);
  };
  // An output that is too large to be saved is in no snapshot.
  const savesLess = profile.limits.sync.savedBytes < ordinaryLimits.sync.savedBytes;
  if (!savesLess && (!answer || isDoubted(explanation))) errors.push(`something is not known: ${summary}`);
  if (!answer) return errors;
  const live = selected.filter((p) => !isPodTerminal(p) && !p.metadata.deletionTimestamp);
  is('live pods', answer.live, live.length);
  is('reachable pods', answer.reachable, live.filter((p) => reached.has(p.metadata.name)).length);
  is(
    'a pod can be reached',
    answer.reach !== 'Unreachable' && answer.reach !== 'NoEndpointsWanted',
    reached.size > 0,
  );
  is('up to date', answer.currency, 'UpToDate');
  is('selected pods', names(pods.filter((p) => p.relation === 'selected')), names(selected.map(named)));
  for (const pod of pods) {
    is(`${pod.pod} reachable`, pod.reachable, reached.has(pod.pod));
    for (const verdict of pod.slices) {
      const place = shown.places.get(`${verdict.family} ${pod.pod}`) ?? 'absent';
      is(`${pod.pod} in ${verdict.family} slices`, verdict.place, place);
      if (verdict.pending !== undefined) errors.push(`${pod.pod} ${verdict.pending}`);
      is(`reason of ${pod.pod}`, verdict.reason, reasonOf(pod, verdict.place, shown) ?? verdict.reason);
    }
  }
  return errors;
}

const textOf = (pods: ReadonlySet<string> | undefined): string | undefined => pods && [...pods].sort().join();
const named = (pod: Pod): { readonly pod: string } => ({ pod: pod.metadata.name });
const names = (pods: readonly { readonly pod: string }[]): string =>
  pods
    .map((p) => p.pod)
    .sort()
    .join(' ');

/** By the pod itself. Undefined: the reason is not one of the pod's own state. */
function reasonOf(
  { pod: name, relation }: PodExplanation,
  place: string,
  { service, selected }: Shown,
): string | undefined {
  const pod = selected.find((p) => p.metadata.name === name);
  if (relation !== 'selected' || !pod) return undefined;
  if (isPodTerminal(pod)) return 'PodCompleted';
  if (place === 'absent') return undefined;
  if (pod.metadata.deletionTimestamp) return 'Terminating';
  if (isPodReady(pod)) return 'Ready';
  return service.spec?.publishNotReadyAddresses ? 'PublishedNotReady' : 'NotReady';
}

function shownOf(store: Store, namespace: string, name: string): Shown | undefined {
  const found = store.find('Service', namespace, name) as Service | undefined;
  if (!found) return undefined;
  const service = withOptInSelector(found, 'active');
  const selector = service.spec?.selector;
  const pods = store.list('Pod', namespace) as readonly unknown[] as readonly Pod[];
  const selected = selector ? pods.filter((p) => selectorMatches(selector, p.metadata.labels)) : [];
  const manager = found.spec?.selector ? slicesManagedBy : optInManagedBy;
  const slices = (
    store.list('EndpointSlice', namespace) as readonly unknown[] as readonly EndpointSlice[]
  ).filter(
    ({ metadata: { labels = {} } }) =>
      labels[labelServiceName] === name &&
      [slicesManagedBy, optInManagedBy].includes(labels[labelSliceManagedBy] ?? ''),
  );
  const listed = slices.flatMap((slice) =>
    (slice.endpoints ?? []).flatMap((e) => (e.targetRef?.name ? [{ slice, e, pod: e.targetRef.name }] : [])),
  );
  const places = listed
    .filter(({ slice }) => slice.metadata.labels?.[labelSliceManagedBy] === manager)
    .map(
      ({ slice, e, pod }) =>
        [`${slice.addressType} ${pod}`, e.conditions?.ready === false ? 'not ready' : 'ready'] as const,
    );
  // A pod that was made again under its name has another address.
  const uids = new Map(pods.map((p) => [p.metadata.name, p.metadata.uid]));
  const used = listed.filter(({ slice, e }) => e.conditions?.ready !== false && isUsed(service, slice));
  const there = used.filter(({ e, pod }) => uids.get(pod) === e.targetRef?.uid);
  return {
    ...{ service, selected },
    places: new Map(places),
    reached: new Set(there.map((l) => l.pod)),
    listed: new Set(used.map((l) => l.pod)),
  };
}

/** kube-proxy takes an endpoint by the name and the protocol of a port, in a family of the Service. */
function isUsed({ spec = {} }: Service, { addressType, ports }: EndpointSlice): boolean {
  const families = spec.ipFamilies ?? ['IPv4'];
  const isOfFamily = (families as readonly string[]).includes(addressType);
  const has = (name = '', protocol = 'TCP'): boolean =>
    (ports ?? []).some((p) => (p.name ?? '') === name && (p.protocol ?? 'TCP') === protocol);
  return isOfFamily && (spec.clusterIP === 'None' || (spec.ports ?? []).some((p) => has(p.name, p.protocol)));
}
