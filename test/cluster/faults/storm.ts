/** Faults of the processes and their connections under load. */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseWorkKey } from '#shared/store/keys.ts';
import { readWork } from '#shared/workqueue/item-store.ts';
import type { Scene } from './scene.ts';

export interface Storm {
  readonly kills: number;
  readonly cuts: number;
  readonly stalls: number;
  /** ms that a worker was frozen while it held a lease; 0 when it never was. */
  readonly frozenMs: number;
}

/** Longer than a lease: another worker has taken over by then. */
const freezeMs = 46_000;

/**
 * Kills at random; once freezes a worker past its lease; from then on cuts and stalls every connection to the
 * API server.
 */
export async function storm(scene: Scene, seconds: number, random: () => number): Promise<Storm> {
  const end = Date.now() + seconds * 1000;
  const spared = new Set<string>();
  let kills = 0;
  let cuts = 0;
  let stalls = 0;

  async function kill(): Promise<void> {
    while (Date.now() < end) {
      await sleep(2_000 + 6_000 * random());
      const processes = [...(await scene.processes())].filter(
        ([name]) => /^(relay|ingest|sync)/.test(name) && !spared.has(name),
      );
      const victim = processes[Math.floor(random() * processes.length)];
      if (victim && send(victim[1], 'SIGKILL')) kills++;
    }
  }
  async function disturb(): Promise<void> {
    while (Date.now() < end) {
      await sleep(4_000 + 8_000 * random());
      if (random() < 0.75) cuts += Math.min(1, scene.proxy.cut());
      else {
        scene.proxy.stall();
        stalls++;
        // Shorter and longer than what a call to the API server waits.
        await sleep(random() < 0.5 ? 3_000 : 20_000);
        if (random() < 0.5) scene.proxy.cut();
        scene.proxy.resume();
      }
    }
    scene.proxy.resume();
  }
  /** How long it lasted. */
  async function thaw({ pid, since }: Frozen): Promise<number> {
    await sleep(freezeMs - (Date.now() - since));
    send(pid, 'SIGCONT');
    return Date.now() - since;
  }

  const killing = kill();
  await sleep(Math.min(20_000, (seconds * 1000) / 4));
  // Neither is killed meanwhile: a lease that then stays is that of the frozen one.
  for (const name of ['sync', 'sync 2']) spared.add(name);
  const frozen = await freeze(scene, end);
  spared.delete('sync 2');
  const thawing = frozen && thaw(frozen).finally(() => spared.clear());
  const [frozenMs = 0] = await Promise.all([thawing, disturb(), killing]);
  return { kills, cuts, stalls, frozenMs };
}

interface Frozen {
  readonly pid: number;
  /** ms since the epoch. */
  readonly since: number;
}

/**
 * Stops `sync` while it holds a lease: as long as nothing passes, the runs that begin do not end. Resolves
 * to undefined if `sync` held no lease until the end of the storm.
 */
async function freeze(scene: Scene, end: number): Promise<Frozen | undefined> {
  const ofTheDead = await leases(scene);
  while (Date.now() < end) {
    scene.proxy.stall();
    await sleep(1_000);
    const pid = (await scene.processes()).get('sync');
    const since = Date.now();
    const stopped = pid !== undefined && send(pid, 'SIGSTOP');
    scene.proxy.resume();
    if (!stopped) continue;
    const held = await leases(scene);
    // The other worker's runs end now, or renew their leases.
    await sleep(2_000);
    const still = await leases(scene);
    if ([...held].some((lease) => still.has(lease) && !ofTheDead.has(lease))) return { pid, since };
    send(pid, 'SIGCONT');
  }
  return undefined;
}

/** The leases that are alive, each with its end: a lease that was renewed is another one. */
async function leases({ hub, cluster }: Scene): Promise<ReadonlySet<string>> {
  const dirty = await hub.table.queryDirty(cluster, Number.MAX_SAFE_INTEGER, 500);
  const work = await Promise.all(dirty.map(({ pk }) => readWork(hub.table, parseWorkKey(pk))));
  return new Set(
    work.flatMap(({ lease }) =>
      lease && lease.untilMs > Date.now() ? [`${lease.id} ${lease.untilMs}`] : [],
    ),
  );
}

/** False when the process was gone already. */
function send(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
