/**
 * The hub that the doors of messages and records lead to: three clusters, of which `a` is attacked, and what
 * must be true of it afterwards.
 */
import { decodeMessage } from '#shared/queue/codec.ts';
import { readEvents } from '#shared/queue/events.ts';

import { readWakeUp } from '#shared/queue/parse.ts';
import { clusterOfKey, parseWorkKey, workKey } from '#shared/store/keys.ts';
import type { Item } from '#shared/store/table.ts';
import { exporter, importer, pod } from '#test/clusterset/support/set-objects.ts';
import { SetWorld } from '#test/clusterset/support/set-world.ts';
import { ensure } from './door.ts';

/** `a` exports a Service and `b` imports it; `c` takes no part. Each has service shop/web. */
export async function startFleet(): Promise<SetWorld> {
  const world = await SetWorld.start({
    a: exporter('10.1.0', { mode: 'active', given: [node] }),
    b: importer({ mode: 'active' }),
    c: { mode: 'active', given: [...(exporter('10.3.0').given ?? []), node] },
  });
  await world.pass(20);
  return world;
}

const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1', uid: 'n' } };

/**
 * Adds a pod to each cluster after the attack, and sends lists, which replace the claims of the attack about
 * its own cluster.
 */
export async function goOn(world: SetWorld): Promise<void> {
  for (const id of ['a', 'c'] as const) {
    const member = world.of(id);
    while (member.store.resourceVersion <= newestAttack) member.store.apply(node);
    member.store.apply(pod('healthy', `10.${id === 'a' ? 1 : 3}.0.99`));
    for (const kind of ['Service', 'Pod', 'Node'] as const) await member.sendList(kind, 'again');
  }
  await pass(world, 130);
}

/**
 * Sweep rejects at the end of a run in which a step has failed for a cluster: the other clusters have had
 * theirs.
 */
async function pass(world: SetWorld, seconds: number): Promise<void> {
  const endMs = world.nowMs + seconds * 1000;
  while (world.nowMs < endMs) {
    try {
      await world.pass((endMs - world.nowMs) / 1000);
    } catch (error) {
      ensure(/^Error: sweep could not finish: (\w+ of [ab](, )?)+$/.test(String(error)), String(error));
    }
  }
}

/** The newest resourceVersion in an attack: with a newer one the hub would rightly ignore the true state. */
export const newestAttack = 60;

export const addressesIn = (world: SetWorld, id: string): readonly string[] => {
  const endpoints = world.of(id).store.find('Endpoints', 'shop', 'web');
  return (endpoints?.subsets ?? []).flatMap(({ addresses = [] }) => addresses.map(({ ip }) => ip)).sort();
};

export function ensureServed(world: SetWorld, id: 'a' | 'c'): void {
  const net = id === 'a' ? '10.1.0' : '10.3.0';
  const served = addressesIn(world, id);
  for (const ip of [`${net}.1`, `${net}.2`, `${net}.99`])
    ensure(served.includes(ip), `cluster ${id} serves ${served.join(', ')}, without ${ip}`);
}

/** Inputs of a cluster, as its relay has sent them. */
const inputsOf = (world: SetWorld, id: string): readonly Item[] =>
  world.table.dump().filter(({ pk }) => new RegExp(`^${id}#(SVC|POD|NODE|NSO|EXPORT|IMPORT)\\b`).test(pk));

/** Call before the attack; the result checks that no input of `b` and `c` has changed by it. */
export function watchOthers(world: SetWorld): () => void {
  const before = JSON.stringify(['b', 'c'].map((id) => inputsOf(world, id)));
  return () =>
    ensure(
      JSON.stringify(['b', 'c'].map((id) => inputsOf(world, id))) === before,
      'an input of another cluster has changed',
    );
}

/** Checks that each record of the table belongs to a known cluster, and fits DynamoDB. */
function ensureKeys(world: SetWorld): void {
  for (const item of world.table.dump()) {
    const { pk, sk } = item;
    const owner = clusterOfKey(item);
    ensure(owner === undefined || world.members.has(owner), `record ${JSON.stringify(pk)} is of no cluster`);
    if (sk === 'work') {
      const service = parseWorkKey(pk);
      ensure(
        workKey(service).pk === pk && service.cluster === owner,
        `work item ${JSON.stringify(pk)} is read as one of ${service.cluster}`,
      );
    }
    ensure(
      Buffer.byteLength(pk) <= 2048 && Buffer.byteLength(sk) <= 1024,
      `the key ${JSON.stringify([pk, sk])} is longer than DynamoDB allows`,
    );
    for (const value of Object.values(item))
      ensure(
        typeof value !== 'string' || value.isWellFormed(),
        `record ${JSON.stringify([pk, sk])} has text with a lone surrogate`,
      );
  }
}

const maxReasonLength = 1_000;

/** Checks that each message in the queues is readable, and each quarantined one has its reason. */
function ensureQueues(world: SetWorld): void {
  for (const { id, queues } of world.members.values()) {
    for (const { body } of queues.events.waiting())
      ensure(readEvents(body).cluster === id, `a message in the queue of ${id} is of another cluster`);
    for (const { body } of queues.syncs.waiting())
      ensure(readWakeUp(body).cluster === id, `a wake-up in the queue of ${id} is of another cluster`);
    for (const { body } of queues.quarantine.waiting()) {
      const { reason } = decodeMessage(body) as { readonly reason?: unknown };
      ensure(
        typeof reason === 'string' && /\w{2}/.test(reason) && reason.length <= maxReasonLength,
        `a message is set aside because of ${JSON.stringify(reason)}`,
      );
    }
    ensure(
      queues.deadEvents.waiting().length + queues.deadSyncs.waiting().length === 0,
      `a message of ${id} has come back until it was dead`,
    );
  }
}

/** Checks that no message has failed: an unreadable one is quarantined at its first receive. */
function ensureNothingFailed(world: SetWorld): void {
  const errors = world.warnings.filter((text) => text.includes('"error"'));
  ensure(
    (world.metrics.get('MessagesFailed') ?? 0) === 0,
    `messages come back: ${errors.slice(0, 3).join('; ')}`,
  );
}

/**
 * Lets the fleet live on. Throws if a key or a message names another cluster than its own, or if a message
 * comes back.
 */
export async function ensureUnharmed(world: SetWorld): Promise<void> {
  await goOn(world);
  ensureKeys(world);
  ensureQueues(world);
  ensureNothingFailed(world);
}
