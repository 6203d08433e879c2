/** Watches what the hub writes for exports and imports: who writes, by whose word, and what it takes away. */
import { ClusterApiError } from '#shared/clusters/api/errors.ts';
import type { ClusterApi } from '#shared/clusters/api/port.ts';
import { type ClusterRecord, decodeCluster } from '#shared/clusters/record.ts';
import { hasSynced } from '#shared/clusters/relay/first-lists.ts';
import { isDeregistered } from '#shared/clusters/writer/mode.ts';
import { settledWinner, type Winner } from '#shared/clusterset/exports/precedence.ts';
import { derivedName } from '#shared/clusterset/imports/derived-name.ts';
import { sourceOf } from '#shared/clusterset/membership/source-record.ts';
import { silentAfterMs } from '#shared/contract/silence.ts';
import type { ServiceImport } from '#shared/kube/mcs-types.ts';
import {
  importsManagedBy,
  labelMcsService,
  labelSliceManagedBy,
  labelSourceCluster,
} from '#shared/kube/names.ts';
import type { EndpointSlice } from '#shared/kube/types.ts';
import { decodeMessage } from '#shared/queue/codec.ts';
import type { OutgoingMessage } from '#shared/queue/port.ts';
import type { WakeUpMessage } from '#shared/queue/wake-up-message.ts';
import { itemSize } from '#shared/store/item-size.ts';
import { type WorkKey, workKey } from '#shared/store/keys.ts';
import type { Item, KeyRange, Table } from '#shared/store/table.ts';
import { isOfTenant } from '#test/worlds/simulation/faults/large-tenant.ts';
import type { Raised } from '#test/worlds/simulation/promises/left-behind.ts';
import type { Monitor } from '#test/worlds/simulation/promises/monitor.ts';
import type { Actor } from '#test/worlds/simulation/world/actor.ts';
import { isKnownToBeGone } from './burning.ts';
import { hostileBudget } from './draw.ts';
import { isDue, SetHistory } from './set-history.ts';
import { isMcsKind, type Labelled, type SetMember, type SetState } from './set-state.ts';
import { addressesIn, hasCopies, importedSlices, isExported, showsIn, takesImports } from './set-truth.ts';

/** Reads of a cluster's record by one process. */
interface Word {
  isFresh: boolean;
  /** Its history was not in doubt. */
  isSynced: boolean;
  /** Its API was asked for its pods. */
  isAsked: boolean;
  /** It exports no more, was taken out, or is gone by both witnesses. */
  isWithdrawn: boolean;
}

/** How long a run may take to put back what it took out of one slice, ms. */
const movingMs = 20_000;

/**
 * How long a namespace, a switch or an export may take to reach every run, ms. Messages of a restored cluster
 * wait until its session is verified.
 */
const exportedMs = 60_000;
const exportedAfterRestoreMs = 180_000;

/** Bytes of names, without the texts of exports. */
const maxAnswerLength = 40_000;

export class SetMonitor {
  readonly raisedBy = new Map<string, Raised>();
  readonly #wokenBy = new Map<string, number>();
  readonly #beganMs: number;
  readonly #world: SetState;
  readonly #history: SetHistory;
  readonly #words = new WeakMap<Actor, Map<string, Word>>();
  /** Imports, by "importer/namespace/name/source", that the process found without a slice of the source. */
  /**
   * Slices that each process has listed. The garbage collector may delete them before the run copies them.
   */
  readonly #listed = new Map<Actor, readonly EndpointSlice[]>();
  /** Sources, as importer/namespace/name/source, that were withdrawn since they are gone. */
  readonly #evicted = new Set<string>();
  readonly #without = new WeakMap<Actor, Set<string>>();
  /** Since when an address is shown: by "importer/namespace/name/source/address". */
  readonly #shownSince = new Map<string, number>();

  constructor(world: SetState) {
    this.#world = world;
    this.#beganMs = world.scheduler.now;
    this.#history = new SetHistory(() => world.scheduler.now);
    for (const member of world.members) this.#history.watch(member);
  }

  of(member: SetMember): Monitor {
    return {
      writing: async () => () => {},
      witness: (actor, table) => this.#witness(actor, table),
      witnessApi: (actor, api) => this.#witnessApi(actor, api, member),
      witnessPods: (_, pods) => pods,
      sends: (actor, messages) => this.#checkBudget(actor, member, messages),
      writes: () => 0,
      finish() {},
      isRestless: () => false,
      raisedBy: this.raisedBy,
      lateRemovals: () => [],
    };
  }

  /** Call after a change of a cluster's allowed exports, or of its history. */
  onSwitch(): void {
    this.#history.onAll();
  }

  #witness(actor: Actor, inner: Table): Table {
    return {
      ...inner,
      get: async (key) => {
        const item = await inner.get(key);
        if (key.sk === 'META' && item)
          this.#readRecord(actor, decodeCluster(key.pk.slice('CLUSTER#'.length), item));
        return item;
      },
      query: async (pk, range) => {
        const items = await inner.query(pk, range);
        if (pk.startsWith('SET#')) this.#readSet(actor, items);
        if (pk.startsWith('SET#')) this.#checkSize(actor, pk, range, items);
        return items;
      },
      put: async (item, condition) => {
        const isWinner = item.pk.startsWith('SET#') && item.sk.endsWith('#W');
        const before = isWinner ? await inner.get(item) : undefined;
        const held = await inner.put(item, condition);
        if (held && before) this.#onWinner(actor, before, item);
        return held;
      },
      update: async (key, change, condition) => {
        const item = await inner.update(key, change, condition);
        const raises = change.add?.['gen'] !== undefined || change.set?.['gen'] !== undefined;
        if (item && raises) this.raisedBy.set(key.pk, { actor, gen: item['gen'] as number });
        return item;
      },
    };
  }

  #word(actor: Actor, cluster: string): Word {
    const words = this.#words.get(actor) ?? new Map<string, Word>();
    this.#words.set(actor, words);
    const word = words.get(cluster) ?? {
      isFresh: false,
      isSynced: false,
      isAsked: false,
      isWithdrawn: false,
    };
    words.set(cluster, word);
    return word;
  }

  #readRecord(actor: Actor, record: ClusterRecord): void {
    const word = this.#word(actor, record.id);
    const isBeating = this.#world.scheduler.now - record.relay.heartbeatAtMs <= silentAfterMs;
    // Sweep lists the pods of such a source.
    const source = sourceOf(record);
    const isListed = source?.state === 'silent' && source.answers === true;
    word.isSynced ||= hasSynced(record);
    word.isFresh ||= hasSynced(record) && record.mode !== 'paused' && (isBeating || isListed);
    word.isWithdrawn ||= isDeregistered(record) || source?.state === 'evicted';
  }

  #readSet(actor: Actor, items: readonly Item[]): void {
    for (const { cluster } of this.#world.members)
      if (!items.some(({ sk }) => sk.endsWith(`#E#${cluster}`)))
        this.#word(actor, cluster).isWithdrawn = true;
  }

  /** The export that has decided for a while goes on deciding while it is there (MC-62). */
  #onWinner(actor: Actor, before: Item, now: Item): void {
    const [, , namespace = ''] = before.pk.split('#');
    const [name = ''] = before.sk.split('#');
    const { sinceMs: decidedMs, ...next } = JSON.parse(now['f'] as string) as Winner & {
      readonly sinceMs: number;
    };
    // As the run that decides had it: the former one may have become settled between its decision and this
    // write.
    const former = settledWinner(before['f'] as string, decidedMs);
    if (!former || (former.cluster === next.cluster && former.uid === next.uid) || actor.paused) return;
    const { store, hasLeft } = this.#world.of(former.cluster);
    const { sinceMs = 0 } = JSON.parse(before['f'] as string) as { readonly sinceMs?: number };
    // Restored or switched off meanwhile, it may have been gone for a while.
    const isSame = store.find('ServiceExport', namespace, name)?.metadata.uid === former.uid;
    if (hasLeft || !isSame || this.#history.exportedSince(former.cluster, namespace, name) >= sinceMs) return;
    this.#world.fail(
      `${actor.name} gives the precedence of ${namespace}/${name} to ${next.cluster}, though ${former.cluster} exports it all the time`,
    );
  }

  #witnessApi(actor: Actor, api: ClusterApi, member: SetMember): ClusterApi {
    const served = (kind: string): void => {
      if (isMcsKind(kind) && !member.servesMcs)
        throw new ClusterApiError('404 page not found', { status: 404 });
    };
    return {
      ...api,
      get: async (kind, ...more) => {
        served(kind);
        return api.get(kind, ...more);
      },
      list: async (kind: Parameters<ClusterApi['list']>[0], ...more: never[]) => {
        served(kind);
        if (kind === 'Pod') this.#word(actor, member.cluster).isAsked = true;
        const list = await (api.list as (...args: unknown[]) => Promise<never>)(kind, ...more);
        if (kind === 'EndpointSlice')
          this.#listed.set(actor, [
            ...(this.#listed.get(actor) ?? []),
            ...(list as { items: readonly EndpointSlice[] }).items,
          ]);
        return list;
      },
      dryRunCreate: async (kind, object) => {
        served(kind);
        member.checkRefused(kind, object as Labelled);
        return api.dryRunCreate(kind, object);
      },
      create: async (kind, object) => {
        served(kind);
        member.checkRefused(kind, object as Labelled);
        return this.#watched({ actor, member }, kind, { after: object as Labelled }, () =>
          api.create(kind, object),
        );
      },
      replace: async (kind, object) => {
        served(kind);
        member.checkRefused(kind, object as Labelled);
        const { namespace = '', name = '' } = object.metadata;
        const before = member.store.find(kind, namespace, name) as Labelled | undefined;
        return this.#watched({ actor, member }, kind, { before, after: object as Labelled }, () =>
          api.replace(kind, object),
        );
      },
      patchStatus: async (kind, namespace, name, status) => {
        served(kind);
        const work = { namespace, kind: kind === 'ServiceExport' ? 'export' : 'import', name } as const;
        if (isMcsKind(kind)) await this.#checkLease(actor, member, work, `the status of ${kind}`);
        return api.patchStatus(kind, namespace, name, status);
      },
      delete: async (kind, namespace, name, preconditions) => {
        served(kind);
        const before = member.store.find(kind as never, namespace, name) as Labelled | undefined;
        return this.#watched({ actor, member }, kind, { before }, () =>
          api.delete(kind, namespace, name, preconditions),
        );
      },
    };
  }

  async #watched<T>(by: Writer, kind: string, change: Change, write: () => Promise<T>): Promise<T> {
    const { actor, member } = by;
    const { before, after } = change;
    const { namespace = '', name = '', labels = {} } = (after ?? before)?.metadata ?? {};
    const imported = kind === 'ServiceImport' ? name : labels[labelMcsService];
    if (kind === 'Event' || (!after && !before)) return write();
    const what = `${after ? (before ? 'changes' : 'creates') : 'deletes'} ${kind} ${namespace}/${name}`;
    if (imported === undefined) {
      this.#world.fail(`${actor.name} ${what} of ${member.cluster}, which is no import`);
      return write();
    }
    await this.#checkLease(actor, member, { namespace, kind: 'import', name: imported }, what);
    if (kind === 'ServiceImport' && !after) this.#checkDeletion(actor, member, { namespace, name }, what);
    if (kind === 'Service' && !after) this.#checkMadeAgain(actor, member, namespace, imported);
    return kind === 'EndpointSlice' ? this.#watchedSlice(by, imported, change, write) : write();
  }

  async #watchedSlice<T>(
    { actor, member }: Writer,
    name: string,
    { before, after }: Change,
    write: () => Promise<T>,
  ): Promise<T> {
    const { metadata } = (after ?? before) as Labelled;
    const { namespace = '', labels = {} } = metadata;
    const what = `${after ? (before ? 'changes' : 'creates') : 'deletes'} EndpointSlice ${namespace}/${metadata.name ?? ''}`;
    if (labels[labelSliceManagedBy] !== importsManagedBy)
      this.#world.fail(`${actor.name} ${what}, managed by ${labels[labelSliceManagedBy]}`);
    const imported: Imported = { namespace, name, source: labels[labelSourceCluster] ?? '' };
    const { source } = imported;
    const shownBefore = showsIn(member, namespace, name, source);
    const isCopy =
      after !== undefined && !before && hasCopies(member, imported, after, this.#listed.get(actor));
    const isWithout = this.#foundWithout(actor, member, imported);
    const result = await write();
    const change = after === undefined ? 'deletes' : before === undefined && isWithout ? 'begins' : 'changes';
    if (!isCopy) this.#checkWord(actor, source, change, `${what} of ${member.cluster}`);
    if (!isCopy) this.#checkGone({ actor, member }, imported, shownBefore, isWithout);
    if (after) this.#checkAddresses(actor, imported, after);
    this.#follow(actor, member, imported, shownBefore);
    return result;
  }

  /**
   * A cluster that the status of an import names, and that has exported the name for a while, keeps the
   * import and its address.
   */
  #checkDeletion(
    actor: Actor,
    member: SetMember,
    { namespace, name }: Omit<Imported, 'source'>,
    what: string,
  ): void {
    // A tenant's export becomes invalid when it is too large.
    if (isOfTenant(namespace) || !takesImports(this.#world, member, namespace)) return;
    const { status } = member.store.find('ServiceImport', namespace, name) as unknown as ServiceImport;
    const isExporting = ({ cluster: source }: { readonly cluster: string }): boolean => {
      const exporter = this.#world.of(source);
      if (exporter.hasLeft || exporter.isHostile || !isExported(exporter, namespace, name)) return false;
      const reachesMs = this.#world.set.restores ? exportedAfterRestoreMs : exportedMs;
      return this.#world.scheduler.now - this.#history.exportedSince(source, namespace, name) > reachesMs;
    };
    const exporting = (status?.clusters ?? []).filter(isExporting).map((c) => c.cluster);
    if (exporting.length > 0)
      this.#world.fail(
        `${actor.name} ${what} of ${member.cluster}, and ${exporting.join()} exports it all the time`,
      );
  }

  /** A derived Service that cannot be made again stays (MC-17). */
  #checkMadeAgain(actor: Actor, member: SetMember, namespace: string, name: string): void {
    this.#world.scheduler.after(movingMs, () => {
      const found = member.store.find('ServiceImport', namespace, name);
      const isWanted = found && !found.metadata.deletionTimestamp && !member.hasLeft;
      if (!isWanted || member.store.find('Service', namespace, derivedName(namespace, name))) return;
      if (actor.dead || actor.stumbled || actor.paused) return;
      this.#world.fail(
        `${actor.name} has deleted the derived Service of ${namespace}/${name} in ${member.cluster}, and made no other`,
      );
    });
  }

  /**
   * The runs of the hostile cluster, and of a tenant's namespace, wake other clusters within their budget.
   */
  #checkBudget(actor: Actor, to: SetMember, messages: readonly OutgoingMessage[]): void {
    const { scheduler, profile, members, set } = this.#world;
    const own = members.find((m) => actor.name.startsWith(`sync-${m.cluster}`));
    if (!own || own === to || to.isHostile) return;
    const onWakeUp = (by: string, namespaces: number): void => {
      const woken = (this.#wokenBy.get(`${by} ${to.cluster}`) ?? 0) + 1;
      this.#wokenBy.set(`${by} ${to.cluster}`, woken);
      const minutes = (scheduler.now - this.#beganMs) / 60_000;
      // Fresh changes have a budget of their own.
      const most = 2 * own.workers * namespaces * hostileBudget * (minutes + 1);
      if (woken > most)
        this.#world.fail(
          `${by} has woken ${woken} runs of ${to.cluster}, and its budget is ${Math.floor(most)}`,
        );
    };
    for (const { body, delaySeconds = 0 } of messages) {
      if (own.isHostile)
        scheduler.after(delaySeconds * 1000, () => onWakeUp(own.cluster, profile.namespaces));
      else if (set.tenant && isOfTenant((decodeMessage(body) as WakeUpMessage).namespace))
        scheduler.after(delaySeconds * 1000, () => onWakeUp(`the tenant of ${own.cluster}`, 1));
    }
  }

  /** A namespace of a set is looked through by names, or in pages. */
  #checkSize(actor: Actor, pk: string, range: KeyRange | undefined, items: readonly Item[]): void {
    if (range?.to !== undefined || (range?.atMost ?? Number.POSITIVE_INFINITY) <= 100) return;
    const bytes = items.reduce((sum, item) => sum + itemSize(item), 0);
    if (bytes > maxAnswerLength) this.#world.fail(`${actor.name} has read ${bytes} bytes of ${pk} at once`);
  }

  async #checkLease(
    actor: Actor,
    member: SetMember,
    work: Omit<WorkKey, 'cluster'>,
    what: string,
  ): Promise<void> {
    const item = await this.#world.table.get(workKey({ cluster: member.cluster, ...work }));
    const holder = item?.['lease'] as string | undefined;
    if (holder?.startsWith(`${actor.name}/`) || actor.paused || actor.abandonedCalls > 0) return;
    this.#world.fail(
      `two writers: ${actor.name} ${what} in ${member.cluster} without the lease of ${work.kind} ${work.name}, which is ${holder ?? 'nobody'}'s`,
    );
  }

  #foundWithout(actor: Actor, member: SetMember, { namespace, name, source }: Imported): boolean {
    const found = this.#without.get(actor) ?? new Set<string>();
    this.#without.set(actor, found);
    const key = [member.cluster, namespace, name, source].join('/');
    const slices = importedSlices(member, namespace, name).filter(
      (s) => s.metadata.labels?.[labelSourceCluster] === source,
    );
    if (slices.length === 0) found.add(key);
    return found.has(key);
  }

  /**
   * MC-70: a source that is silent or in doubt stays exactly as it is. A cluster without its slices may get
   * what was last known of a silent one.
   */
  #checkWord(actor: Actor, source: string, change: 'begins' | 'changes' | 'deletes', what: string): void {
    const { isFresh, isSynced, isAsked, isWithdrawn } = this.#word(actor, source);
    if (isFresh || isAsked || (change === 'deletes' && isWithdrawn) || (change === 'begins' && isSynced))
      return;
    this.#world.fail(`${actor.name} ${what} though no word of ${source} counts`);
  }

  #checkAddresses(actor: Actor, { namespace, name, source }: Imported, slice: Labelled): void {
    const { takesPart, network, isHostile } = this.#world.of(source);
    for (const { ip } of addressesIn(slice)) {
      if (!isHostile && !this.#history.everHad(source, namespace, name, ip))
        this.#world.fail(
          `${actor.name} imports ${ip} as ${namespace}/${name} of ${source}, which never had it`,
        );
      if (takesPart.holdsRanges && !ip.startsWith(`${network}.`))
        this.#world.fail(`${actor.name} imports ${ip} from outside of the range of ${source}`);
    }
  }

  /**
   * Nothing is added of a cluster that is gone, relay and API. An importer that never had it may get what was
   * last known of it.
   */
  #checkGone(
    { actor, member }: Writer,
    { namespace, name, source }: Imported,
    before: ReadonlySet<string>,
    isWithout: boolean,
  ): void {
    if (!isKnownToBeGone(this.#world.of(source), this.#world.scheduler.now) || actor.paused) return;
    const key = [member.cluster, namespace, name, source].join('/');
    const after = showsIn(member, namespace, name, source);
    if (after.size < before.size) this.#evicted.add(key);
    const added = [...after].filter((ip) => !before.has(ip));
    if (added.length === 0 || (isWithout && !this.#evicted.has(key))) return;
    this.#world.fail(
      `${actor.name} adds ${added.join()} of ${source}, which is gone, to ${namespace}/${name} in ${member.cluster}`,
    );
  }

  #follow(actor: Actor, member: SetMember, imported: Imported, before: ReadonlySet<string>): void {
    const { namespace, name, source } = imported;
    if (
      this.#world.of(source).isHostile ||
      isKnownToBeGone(this.#world.of(source), this.#world.scheduler.now)
    )
      return;
    const after = showsIn(member, namespace, name, source);
    const { scheduler } = this.#world;
    const keyOf = (ip: string): string => [member.cluster, namespace, name, source, ip].join('/');
    // The snapshot may show a source's own answer only after a repeated message, and a run in between uses
    // the snapshot.
    const { isAsked } = this.#word(actor, source);
    for (const ip of after) if (!before.has(ip)) this.#shownSince.set(keyOf(ip), isAsked ? 0 : scheduler.now);
    for (const ip of before) {
      if (after.has(ip)) continue;
      const since = this.#shownSince.get(keyOf(ip)) ?? 0;
      const removedAt = scheduler.now;
      const isSteady = (): boolean => this.#history.steadySince(source, namespace, name, ip) < since;
      if (!isSteady() || !isDue(this.#world.of(source), namespace, name, ip) || actor.paused) continue;
      scheduler.after(movingMs, () => {
        const isBack = showsIn(member, namespace, name, source).has(ip);
        if (
          isBack ||
          actor.dead ||
          actor.stumbled ||
          !isSteady() ||
          !isDue(this.#world.of(source), namespace, name, ip)
        )
          return;
        this.#world.fail(
          `${actor.name} took ${ip} of ${source} out of ${namespace}/${name} in ${member.cluster} at ${removedAt}, ready all the time`,
        );
      });
    }
  }
}

/** A process that writes in a cluster. */
interface Writer {
  readonly actor: Actor;
  readonly member: SetMember;
}

/** An object before and after a write. */
interface Change {
  readonly before?: Labelled | undefined;
  readonly after?: Labelled | undefined;
}

interface Imported {
  readonly namespace: string;
  readonly name: string;
  readonly source: string;
}
