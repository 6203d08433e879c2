/** The ports of one process: memory behind them, time and faults in front. */
import { ClusterApiError, timedOut } from '#shared/clusters/api/errors.ts';
import type { ClusterApi } from '#shared/clusters/api/port.ts';
import type { MessageQueue } from '#shared/queue/port.ts';
import type { Key, Table } from '#shared/store/table.ts';
import { apiFlaw } from '#test/worlds/simulation/faults/api-errors.ts';
import type { Culprit } from '#test/worlds/simulation/faults/culprit.ts';
import type { Profile } from '#test/worlds/simulation/faults/profile.ts';
import type { Random } from '#test/worlds/simulation/random.ts';
import type { Actor, Flaw } from './actor.ts';
import type { Queue } from './queue.ts';

export interface Faults {
  readonly profile: Profile;
  readonly random: Random;
  /** Returns true after the last fault. */
  readonly isOver: () => boolean;
  readonly outage: () => ClusterApiError | undefined;
  /** The service of whose Endpoints the API server refuses writes. */
  readonly refusedService: string | undefined;
  /** The faults of one service alone (culprit.ts). */
  readonly culprit?: Culprit | undefined;
  /** Left out: every kind is. */
  readonly isServed?: (kind: string) => boolean;
}

/** As the SDK throws it. */
const ofAws = (text: string): Error => Object.assign(new Error(text), { $metadata: {} });

const refused: Flaw = { error: ofAws('ProvisionedThroughputExceeded'), when: 'before' };

export function tablePort(actor: Actor, table: Table, faults: Faults): Table {
  const flaw = (writes: boolean, pk = ''): Flaw | undefined => {
    if (faults.culprit?.refuses(actor, pk)) return refused;
    if (actor.lucky || faults.isOver() || !faults.random.chance(faults.profile.refusals)) return undefined;
    if (writes && faults.random.chance(0.5))
      return {
        error: ofAws('the answer of the table got lost'),
        when: faults.random.pick(['after', 'twice']),
      };
    return refused;
  };
  const name = ({ pk, sk }: Key): string => `${pk} | ${sk}`;
  const text = (x: unknown): string =>
    JSON.stringify(x, (_k, v: unknown) =>
      v instanceof Uint8Array ? '<bytes>' : v instanceof Set ? [...v] : v,
    );
  return {
    get: (key) =>
      actor.call({
        kind: 'read',
        what: () => `get ${name(key)}`,
        msToReach: 12,
        effect: () => table.get(key),
        flaw: flaw(false, key.pk),
      }),
    query: (pk, range) =>
      actor.call({
        kind: 'read',
        what: () => `query ${pk} ${range ? text(range) : ''}`,
        msToReach: 15,
        effect: () => table.query(pk, range),
        flaw: flaw(false, pk),
      }),
    put: (item, condition) =>
      actor.call({
        kind: 'put',
        what: () => `put ${text(item)} IF ${text(condition)}`,
        msToReach: 12,
        effect: () => table.put(item, condition),
        flaw: flaw(true, item.pk),
      }),
    update: (key, change, condition) =>
      actor.call({
        kind: 'update',
        what: () => `update ${name(key)} ${text(change)} IF ${text(condition)}`,
        msToReach: 12,
        effect: () => table.update(key, change, condition),
        flaw: flaw(true, key.pk),
      }),
    delete: (key, condition) =>
      actor.call({
        kind: 'delete',
        what: () => `delete ${name(key)} IF ${text(condition)}`,
        msToReach: 12,
        effect: () => table.delete(key, condition),
        flaw: flaw(true, key.pk),
      }),
    queryDirty: (partition, until, limit) =>
      actor.call({
        kind: 'read',
        what: () => `queryDirty ${partition}`,
        msToReach: 15,
        effect: async () => (faults.profile.sweepWakes ? table.queryDirty(partition, until, limit) : []),
        flaw: flaw(false),
      }),
    scanKeys: (after) =>
      actor.call({
        kind: 'read',
        what: () => `scanKeys ${after ? name(after) : ''}`,
        msToReach: 15,
        effect: () => table.scanKeys(after),
        flaw: flaw(false),
      }),
  };
}

export function queuePort(actor: Actor, queue: Queue, faults: Faults): MessageQueue {
  return {
    send(messages) {
      let flaw: Flaw | undefined;
      if (!actor.lucky && !faults.isOver() && faults.random.chance(faults.profile.refusals)) {
        flaw = {
          error: ofAws('the queue did not answer'),
          when: faults.random.pick(['before', 'after', 'twice']),
        };
      }
      return actor.call({
        kind: 'send',
        what: () =>
          `send to ${queue.options.name}: ${messages.map((m) => `${m.body.slice(0, 260)}${m.delaySeconds ? ` in ${m.delaySeconds} s` : ''}`).join(' + ')}`,
        msToReach: 20,
        effect: async () => {
          for (const m of messages) queue.add(m);
        },
        flaw,
      });
    },
  };
}

/** Called just before the effect of each write of an output. The returned function is called after it. */
export type Writing = (actor: Actor, kind: string, namespace: string, service: string) => Promise<() => void>;

interface Written {
  readonly writing: Writing;
  /** The Service of an output. */
  readonly serviceOf: (kind: string, namespace: string, name: string) => string;
}

/** What a call is about. */
interface Place {
  readonly kind: string;
  readonly namespace: string;
  /** Undefined: the call writes no output. */
  readonly service: string | undefined;
}

export function apiPort(
  actor: Actor,
  api: ClusterApi,
  faults: Faults,
  { writing, serviceOf }: Written,
): ClusterApi {
  const flaw = (writes: boolean): Flaw | undefined => {
    if (faults.isOver()) return undefined;
    const down = faults.outage();
    if (down) return { error: down, when: 'before' };
    if (actor.lucky || !faults.random.chance(faults.profile.apiFailures)) return undefined;
    return apiFlaw(faults.random, writes);
  };
  const call = <T>(
    what: () => string,
    { kind, namespace, service }: Place,
    effect: () => Promise<T>,
  ): Promise<T> => {
    const refused =
      service !== undefined &&
      kind === 'Endpoints' &&
      faults.refusedService === `${namespace}/${service}` &&
      !faults.isOver();
    const answered = actor.call({
      kind: 'api',
      what: () => `api ${what()}`,
      msToReach: 40,
      effect: async () => {
        if (refused)
          throw new ClusterApiError('admission webhook "no" denied the request', {
            status: 403,
            reason: 'Forbidden',
          });
        if (service === undefined || kind === 'Event') return effect();
        const done = await writing(actor, kind, namespace, service);
        const result = await effect();
        if (result !== false) done();
        return result;
      },
      flaw: flaw(service !== undefined),
    });
    return answered.catch((error: unknown) => {
      actor.stumbled = true;
      throw error;
    });
  };
  const label = (
    o: { readonly metadata: { readonly name?: string; readonly labels?: { readonly [k: string]: string } } },
    kind: string,
  ): string =>
    kind === 'Endpoints'
      ? (o.metadata.name ?? '')
      : (o.metadata.labels?.['kubernetes.io/service-name'] ?? '');
  return {
    get: (kind, ns, name) =>
      call(
        () => `get ${kind} ${ns}/${name}`,
        { kind, namespace: ns, service: undefined },
        () => api.get(kind, ns, name),
      ),
    list: (kind, ns, selector) =>
      call(
        () => `list ${kind} ${ns} ${JSON.stringify(selector)}`,
        { kind, namespace: ns, service: undefined },
        () => api.list(kind, ns, selector),
      ),
    create: (kind, o) =>
      call(
        () => `create ${kind} ${JSON.stringify(o)}`,
        { kind, namespace: o.metadata.namespace ?? '', service: label(o, kind) },
        () => api.create(kind, o),
      ),
    replace: (kind, o) =>
      call(
        () => `replace ${kind} ${JSON.stringify(o)}`,
        { kind, namespace: o.metadata.namespace ?? '', service: label(o, kind) },
        () => api.replace(kind, o),
      ),
    patch: (kind, ns, name, patch) =>
      call(
        () => `patch ${kind} ${ns}/${name}`,
        { kind, namespace: ns, service: '' },
        () => api.patch(kind, ns, name, patch),
      ),
    patchStatus: (kind, ns, name, status) =>
      call(
        () => `patch status of ${kind} ${ns}/${name}`,
        { kind, namespace: ns, service: '' },
        () => api.patchStatus(kind, ns, name, status),
      ),
    delete: (kind, ns, name, preconditions) =>
      call(
        () => `delete ${kind} ${ns}/${name} ${JSON.stringify(preconditions)}`,
        { kind, namespace: ns, service: serviceOf(kind, ns, name) },
        () => api.delete(kind, ns, name, preconditions),
      ),
    identity: () =>
      call(
        () => 'identity',
        { kind: 'Namespace', namespace: '', service: undefined },
        () => api.identity(),
      ),
    allows: (right) =>
      call(
        () => 'allows',
        { kind: 'Namespace', namespace: '', service: undefined },
        () => api.allows(right),
      ),
    dryRunCreate: (kind, o) =>
      call(
        () => `dry run: create ${kind}`,
        { kind: 'Namespace', namespace: '', service: undefined },
        () => api.dryRunCreate(kind, o),
      ),
  };
}

/**
 * Limits the calls of an API to `timeoutMs` at their begin. A call that timed out may still have its effect.
 */
export function within(api: ClusterApi, actor: Actor, timeoutMs: () => number): ClusterApi {
  const bounded =
    <A extends readonly unknown[], R>(call: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      const ms = timeoutMs();
      return new Promise<R>((resolve, reject) => {
        let [isOver, isAbandoned] = [false, false];
        actor.later(ms, () => {
          isAbandoned = !isOver;
          if (isAbandoned) actor.abandonedCalls++;
          reject(new ClusterApiError(`no answer within ${ms} ms`, { status: 0, reason: timedOut }));
        });
        call(...args)
          .finally(() => {
            isOver = true;
            if (isAbandoned) actor.abandonedCalls--;
          })
          .then(resolve, reject);
      });
    };
  return {
    get: bounded(api.get) as ClusterApi['get'],
    list: bounded(api.list) as ClusterApi['list'],
    create: bounded(api.create) as ClusterApi['create'],
    replace: bounded(api.replace) as ClusterApi['replace'],
    patch: bounded(api.patch) as ClusterApi['patch'],
    patchStatus: bounded(api.patchStatus),
    delete: bounded(api.delete),
    identity: bounded(api.identity),
    allows: bounded(api.allows),
    dryRunCreate: bounded(api.dryRunCreate) as ClusterApi['dryRunCreate'],
  };
}
