/**
 * Several clusters and one hub in memory and in virtual time, as hub-world.ts has one: each cluster with its
 * own store, queues, API and relay without a network.
 */

import { freshCaches } from '#functions/ingest/batch/warm-caches.ts';
import { ingestBatch } from '#functions/ingest/event-batch.ts';
import {
  deletedInput,
  inputEntry,
  type Outputs,
  outputEntry,
  relayKey,
} from '#functions/relay/projection/entries.ts';
import { isOwnImportWrite } from '#functions/relay/projection/own-write.ts';
import { sweep } from '#functions/sweep/sweep.ts';
import { eventRecorder } from '#functions/sync/aftermath/kube-events.ts';
import { syncBatch } from '#functions/sync/wake-up-batch.ts';
import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import { invalid } from '#infra/local/apiserver/failure.ts';
import { collectGarbage } from '#infra/local/apiserver/gc.ts';
import { Store } from '#infra/local/apiserver/store.ts';
import { ClusterApiError, timedOut } from '#shared/clusters/api/errors.ts';
import type { ClusterApi } from '#shared/clusters/api/port.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { registerCluster } from '#shared/clusters/registration.ts';
import type { Mode } from '#shared/clusters/writer/mode.ts';
import { type ClustersetMembership, noMembership } from '#shared/clusterset/contract/clusterset-settings.ts';
import { saveMembership } from '#shared/clusterset/membership/clusterset-membership.ts';
import { defaultLimits, type Limits } from '#shared/contract/limits.ts';
import { fieldManagerOf } from '#shared/kube/names.ts';
import { allKinds, type InputKind, isInput, type Kind } from '#shared/kube/types.ts';
import { encodeMessage } from '#shared/queue/codec.ts';
import { encodeParts } from '#shared/queue/list-parts.ts';
import { type EventsHeader, type EventsMessage, messageVersion } from '#shared/queue/messages.ts';
import { NamespacePods } from '#shared/store/inputs/namespace-pods.ts';
import type { Log, Metrics } from '#shared/telemetry/port.ts';
import { LeaseEndWakeUps } from '#shared/workqueue/lease-end-wake-ups.ts';
import { WakePace } from '#shared/workqueue/wake-pace.ts';
import { memoryClusterApi } from '#test/support/memory/cluster-memory.ts';
import { memoryClusterQueues } from '#test/support/memory/queue-memory.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';
import { startAt } from '#test/support/small-cluster.ts';

export interface MemberOptions extends Partial<ClustersetMembership> {
  readonly mode?: Mode;
  readonly given?: readonly RawObject[];
  /** False: its relay is to be started by the test. */
  readonly isInstalled?: boolean;
  /** Families of its Services, by default both. */
  readonly families?: readonly ('IPv4' | 'IPv6')[];
}

const heartbeatMs = 15_000;

class Member {
  readonly id: string;
  readonly store: Store;
  readonly queues;
  readonly writes: string[] = [];
  /** Content of Endpoints and slices in the relay's messages. */
  outputs: Outputs = 'metadata';
  /** If false, the relay is silent. */
  isBeating = true;
  apiAnswers = true;
  /** If true, its API never answers: each call ends with its time limit. */
  hangs = false;
  /** Time that calls without an answer have taken, ms. */
  hungMs = 0;
  /** The kinds of the Multi-Cluster Services API are installed. */
  servesMcs = true;
  /** Returns the refusal of a write by rights and policies. Undefined allows it. */
  refuses: (verb: string, kind: unknown, object: unknown) => ClusterApiError | undefined = () => undefined;
  families: readonly string[] = ['IPv4', 'IPv6'];
  /** Changes an object before the relay sends it. */
  told: (object: RawObject) => RawObject = (object) => object;
  /** Number of calls of its API, without checks of rights. */
  calls = 0;
  readonly #world: SetWorld;
  #header: EventsHeader;
  #said = 1_000_000;

  constructor(world: SetWorld, id: string, given: readonly RawObject[]) {
    let uids = 0;
    this.#world = world;
    this.id = id;
    this.store = new Store({
      now: () => world.nowMs,
      uid: () => `${id}-${++uids}`,
      suffix: () => `${++uids}`,
    });
    for (const object of given) this.store.apply(object);
    this.queues = memoryClusterQueues(() => world.nowMs, id);
    const uid = this.store.get('Namespace', '', 'kube-system').metadata.uid ?? '';
    this.#header = {
      v: messageVersion,
      cluster: id,
      session: 's1',
      uid,
      firstListVersion: String(this.store.resourceVersion),
    };
  }

  /** Its API, which notes what is written. */
  api({ writer }: Pick<ClusterRecord, 'writer'>, timeoutMs?: () => number): ClusterApi {
    const inner = memoryClusterApi(this.store, { fieldManager: fieldManagerOf(writer) });
    const noted =
      <A extends readonly unknown[], R>(verb: string, call: (...args: A) => Promise<R>) =>
      async (...args: A): Promise<R> => {
        if (verb !== 'rights' && verb !== 'dryRunCreate') this.calls++;
        this.#refuseUnserved(String(args[0]), timeoutMs);
        if (args[0] === 'Service' && ['create', 'dryRunCreate', 'replace'].includes(verb))
          this.#refuseOtherFamilies(args[1]);
        const refusal =
          verb !== 'rights' && this.refuses(verb === 'dryRunCreate' ? 'create' : verb, args[0], args[1]);
        if (refusal) throw refusal;
        if (!['', 'rights', 'dryRunCreate'].includes(verb)) this.writes.push(`${verb} ${String(args[0])}`);
        return call(...args);
      };
    const read = ['get', 'list', 'identity'];
    const rights = ['allows'];
    const verbs = Object.entries(inner) as [string, (...args: unknown[]) => Promise<unknown>][];
    return Object.fromEntries(
      verbs.map(([verb, call]) => [
        verb,
        noted(read.includes(verb) ? '' : rights.includes(verb) ? 'rights' : verb, call),
      ]),
    ) as unknown as ClusterApi;
  }

  /** As an API server that has no such kind, gives no answer or is out of reach. */
  #refuseUnserved(kind: string, timeoutMs?: () => number): void {
    if (!this.servesMcs && /^Service(Im|Ex)port$/.test(kind))
      throw new ClusterApiError('404 page not found', { status: 404 });
    if (this.hangs) {
      const ms = timeoutMs?.() ?? 15_000;
      this.hungMs += ms;
      this.#world.nowMs += ms;
      throw new ClusterApiError('timed out', { status: 0, reason: timedOut });
    }
    if (!this.apiAnswers) throw new ClusterApiError('no route to host', { status: 0 });
  }

  /** As the allocator of cluster IPs does. */
  #refuseOtherFamilies(given: unknown): void {
    const { metadata, spec } = given as {
      readonly metadata?: { readonly name: string };
      readonly spec?: { readonly ipFamilies?: readonly string[]; readonly clusterIP?: string };
    };
    if (spec?.clusterIP === 'None') return;
    const i = (spec?.ipFamilies ?? []).findIndex((family) => !this.families.includes(family));
    if (i < 0) return;
    const message = `Invalid value: "${spec?.ipFamilies?.[i]}": not configured on this cluster`;
    throw invalid('Service', metadata?.name ?? '', [
      { field: `spec.ipFamilies[${i}]`, reason: 'FieldValueInvalid', message },
    ]);
  }

  async startRelay(of: readonly Kind[] = allKinds, session = 's1'): Promise<void> {
    this.#header = { ...this.#header, session, firstListVersion: String(this.store.resourceVersion) };
    this.isBeating = true;
    for (const kind of of) {
      await this.#sendList(kind);
      this.store.watch(
        kind,
        ({ type, object, previous }) => void this.#sendChange(kind, type === 'DELETED', object, previous),
      );
    }
  }

  /** The relay that was silent begins with first lists. */
  async restart(): Promise<void> {
    this.isBeating = true;
    for (const kind of allKinds) await this.#sendList(kind);
  }

  async sendList(kind: Kind, listId: string): Promise<void> {
    await this.#sendList(kind, listId);
  }

  /**
   * Sends these objects as the relay's, independent of the cluster, like an attacker with the relay's role.
   */
  async say(kind: InputKind, objects: readonly object[], more: object = {}): Promise<void> {
    const entries = objects.map((object) => ({
      ...inputEntry(kind, object as never, String(++this.#said)),
      ...more,
    }));
    await this.#send({
      ...this.#header,
      type: 'live',
      kind,
      asOf: String(this.#said),
      entries,
    } as unknown as EventsMessage);
  }

  async sendHeartbeat(atMs: number): Promise<void> {
    const readUpTo = Object.fromEntries(allKinds.map((kind) => [kind, String(this.store.resourceVersion)]));
    await this.#send({ ...this.#header, type: 'heartbeat', readUpTo, sentAtMs: atMs } as EventsMessage);
  }

  async #sendList(kind: Kind, listId = 'first'): Promise<void> {
    const asOf = String(this.store.resourceVersion);
    const page = this.store.list(kind).map((object) => {
      const rv = object.metadata.resourceVersion ?? '0';
      const entry = isInput(kind) ? inputEntry(kind, object, rv) : outputEntry(kind, object, rv);
      return { key: relayKey(object), entry };
    });
    const list = { header: this.#header, kind, asOf, listId: `${kind}-${listId}` };
    const { bodies } = encodeParts(list, page, { from: '', to: '', first: 0 });
    if (this.isBeating) await this.queues.events.send(bodies.map((body) => ({ body })));
  }

  async #sendChange(
    kind: Kind,
    deleted: boolean,
    object: RawObject,
    previous: RawObject | undefined,
  ): Promise<void> {
    const asOf = String(this.store.resourceVersion);
    const wasOf = previous?.metadata.labels?.['kubernetes.io/service-name'];
    const moved = wasOf !== undefined && wasOf !== object.metadata.labels?.['kubernetes.io/service-name'];
    const entry = isInput(kind)
      ? deleted
        ? deletedInput(object, asOf, this.#world.nowMs)
        : inputEntry(kind, this.told(object), asOf, this.#world.nowMs)
      : outputEntry(kind, object, asOf, {
          outputs: this.outputs,
          more: { ...(deleted && { deleted: true as const }), ...(moved && { formerService: wasOf }) },
        });
    if (isOwnImportWrite(entry)) return;
    await this.#send({ ...this.#header, type: 'live', kind, asOf, entries: [entry] } as EventsMessage);
  }

  async #send(message: EventsMessage): Promise<void> {
    if (this.isBeating) await this.queues.events.send([{ body: encodeMessage(message) }]);
  }
}

export class SetWorld {
  nowMs = startAt;
  readonly table = memoryTable();
  readonly members = new Map<string, Member>();
  readonly metrics = new Map<string, number>();
  readonly warnings: string[] = [];
  /** Cached Pods of the next worker. */
  pods: NamespacePods;
  #nextBeatMs = startAt;
  #nextSweepMs = startAt + 60_000;
  readonly #deps;

  private constructor(limits: Limits) {
    this.pods = new NamespacePods();
    const log: Log = {
      info() {},
      warn: (text) => void this.warnings.push(text),
      error: (text, fields) => void this.warnings.push(`${text} ${JSON.stringify(fields)}`),
      with: () => log,
    };
    const metrics: Metrics = {
      put: (name, value) => void this.metrics.set(name, (this.metrics.get(name) ?? 0) + value),
    };
    let ids = 0;
    this.#deps = {
      table: this.table,
      limits,
      queues: (cluster: string) => this.of(cluster).queues,
      cluster: async (meta: ClusterRecord, timeoutMs?: () => number) => this.of(meta.id).api(meta, timeoutMs),
      metrics,
      log,
      now: () => this.nowMs,
      random: () => 0.5,
      newLeaseId: () => `lease-${++ids}`,
      newId: () => `id-${++ids}`,
      flush: () => {},
      events: eventRecorder({ now: () => this.nowMs, log }),
      leaseEndWakeUps: new LeaseEndWakeUps(),
      pods: this.pods,
      wakePace: new WakePace(limits.sync),
      nodes: new Map(),
      caches: freshCaches(),
    };
  }

  static async start(
    members: { readonly [id: string]: MemberOptions },
    limits = defaultLimits,
  ): Promise<SetWorld> {
    const world = new SetWorld(limits);
    for (const [
      id,
      { mode = 'shadow', given = [], families, isInstalled = true, ...membership },
    ] of Object.entries(members)) {
      const member = new Member(world, id, given);
      if (families) member.families = families;
      world.members.set(id, member);
      const api = { url: `https://${id}`, auth: { type: 'secret', secretArn: 'arn' } } as const;
      await registerCluster(world.table, { id, mode, api }, startAt);
      await saveMembership(world.table, id, { ...noMembership, ...membership });
      member.isBeating = isInstalled;
      if (isInstalled) await member.startRelay();
    }
    return world;
  }

  /** A cluster without a relay and without objects. Its record is the caller's to write. */
  addMember(id: string): void {
    this.members.set(id, new Member(this, id, []));
  }

  of(id: string): Member {
    const member = this.members.get(id);
    if (!member) throw new Error(`no cluster ${id}`);
    return member;
  }

  async pass(seconds: number): Promise<void> {
    const endMs = this.nowMs + seconds * 1000;
    for (;;) {
      const times = [...this.members.values()].flatMap(({ queues }) => [
        queues.events.nextAt(),
        queues.syncs.nextAt(),
      ]);
      const nextMs = Math.min(
        this.#nextBeatMs,
        this.#nextSweepMs,
        ...times.map((at) => at ?? Number.POSITIVE_INFINITY),
      );
      if (nextMs >= endMs) break;
      this.nowMs = Math.max(this.nowMs, nextMs);
      if (this.nowMs >= this.#nextBeatMs) {
        this.#nextBeatMs += heartbeatMs;
        for (const member of this.members.values()) await member.sendHeartbeat(this.nowMs);
      }
      if (this.nowMs >= this.#nextSweepMs) {
        this.#nextSweepMs += 60_000;
        await sweep(this.#deps);
      }
      for (const { id, queues, store } of this.members.values()) {
        await this.#deliver(queues.events, (records) => ingestBatch(this.#deps, id, records));
        await this.#deliver(queues.syncs, (records) =>
          syncBatch(this.#deps, id, records, this.nowMs + 30_000),
        );
        collectGarbage(store);
      }
    }
    this.nowMs = endMs;
  }

  async #deliver(
    queue: Member['queues']['events'],
    handle: (
      records: readonly { readonly messageId: string; readonly body: string; readonly sentAtMs: number }[],
    ) => Promise<readonly string[]>,
  ): Promise<void> {
    const records = queue.receive(10);
    if (records.length === 0) return;
    const failed = await handle(records);
    for (const r of records) if (!failed.includes(r.messageId)) queue.delete(r.receiptHandle);
  }
}
