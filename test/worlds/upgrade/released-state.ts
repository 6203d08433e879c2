/**
 * The state of a version when the next one replaces its functions and relays: the table, the messages in
 * flight, and the clusters' objects.
 */
import { type RawObject, storeKinds } from '#infra/local/apiserver/api-kinds.ts';
import type { Item, Value } from '#shared/store/table.ts';
import type { HubWorld } from '#test/support/hub-world.ts';

export interface MessageUnderWay {
  readonly body: string;
  /** Until it can be received; 0: now. */
  readonly inMs: number;
}

const queueNames = ['events', 'syncs', 'parked', 'quarantine', 'deadEvents', 'deadSyncs'] as const;
export type QueueName = (typeof queueNames)[number];

/**
 * At one moment. All of it is JSON: values of the table that JSON has no word for are written as `{ bytes }`
 * and `{ numbers }`.
 */
export interface HubState {
  readonly atMs: number;
  readonly items: readonly { readonly [attribute: string]: unknown }[];
  readonly queues: { readonly [Q in QueueName]: readonly MessageUnderWay[] };
  readonly objects: readonly RawObject[];
  readonly resourceVersion: number;
  /** Session of the leading relay. */
  readonly session: string;
  readonly firstListVersion: string;
}

export function stateOf(
  world: HubWorld,
  relay: { readonly session: string; readonly firstListVersion: string },
): HubState {
  const underWay = (name: QueueName): readonly MessageUnderWay[] =>
    world.queues[name]
      .waiting()
      .map(({ body, visibleAt }) => ({ body, inMs: Math.max(0, visibleAt - world.now) }));
  return {
    atMs: world.now,
    items: world.table
      .dump()
      .map((item) => Object.fromEntries(Object.entries(item).map(([name, value]) => [name, written(value)]))),
    queues: Object.fromEntries(queueNames.map((name) => [name, underWay(name)])) as HubState['queues'],
    // An API server forgets its Events.
    objects: storeKinds.filter((kind) => kind !== 'Event').flatMap((kind) => world.store.list(kind)),
    resourceVersion: world.store.resourceVersion,
    ...relay,
  };
}

export const itemsOf = ({ items }: HubState): readonly Item[] =>
  items.map(
    (item) => Object.fromEntries(Object.entries(item).map(([name, value]) => [name, read(value)])) as Item,
  );

const written = (value: Value): unknown =>
  value instanceof Uint8Array
    ? { bytes: Buffer.from(value).toString('base64') }
    : value instanceof Set
      ? { numbers: [...value] }
      : value;

const read = (value: unknown): Value => {
  if (typeof value !== 'object' || value === null) return value as Value;
  const { bytes, numbers } = value as { readonly bytes?: string; readonly numbers?: readonly number[] };
  return bytes !== undefined ? new Uint8Array(Buffer.from(bytes, 'base64')) : new Set(numbers);
};
