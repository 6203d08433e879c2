/**
 * Operations on a hub besides its messages: sweep, switches of the mode, and an operator of the dead-letter
 * and parked queues.
 */
import { type AuditRecord, recordAudit } from '#shared/clusters/audit.ts';
import { readCluster } from '#shared/clusters/record.ts';
import { switchMode, switchOptIn } from '#shared/clusters/writer/mode-switch.ts';
import type { OptIn } from '#shared/controllers/opt-in/writer.ts';
import { decodeMessage } from '#shared/queue/codec.ts';
import type { ParkedCopy } from '#shared/queue/wake-up-message.ts';
import type { Table } from '#shared/store/table.ts';
import { addWork } from '#shared/workqueue/add.ts';
import { addAll } from '#shared/workqueue/add-all.ts';
import { wakeNow } from '#shared/workqueue/rules/message.ts';
import { checkCircuit, watchedMetrics } from '#test/worlds/simulation/faults/away.ts';
import { modeOf } from '#test/worlds/simulation/faults/profile.ts';
import { sendAway } from '#test/worlds/simulation/faults/zones.ts';
import type { Random } from '#test/worlds/simulation/random.ts';
import type { Processes } from './processes.ts';
import type { Message } from './queue.ts';
import type { Sweeps } from './sweeps.ts';
import type { WorldState } from './world-state.ts';

export class Operations {
  readonly #world: WorldState;
  readonly #processes: Processes;

  constructor(processes: Processes) {
    this.#processes = processes;
    this.#world = processes.world;
  }

  planPause(): void {
    const { faultsUntilMs, awayMode, awayMs } = this.#world.profile;
    const from = this.#world.random.between(0, faultsUntilMs - 2000);
    this.#world.scheduler.after(from, () => this.#switchTo(awayMode));
    this.#world.scheduler.after(
      Math.min(faultsUntilMs - 1, from + this.#world.random.between(500, awayMs)),
      () => this.#switchTo(modeOf(this.#world.profile)),
    );
  }

  /** Services that opt in stay as they are for a while. */
  planOptInSwitch(random: Random): void {
    const { faultsUntilMs, awayMs } = this.#world.profile;
    const from = random.between(0, faultsUntilMs - 2000);
    const optIn = random.pick(['off', 'shadow'] as const);
    this.#world.scheduler.after(from, () => this.#switchOptInTo(optIn));
    this.#world.scheduler.after(Math.min(faultsUntilMs - 1, from + random.between(500, awayMs)), () =>
      this.#switchOptInTo('active'),
    );
  }

  #switchOptInTo(optIn: OptIn): void {
    this.#switch(`opt-in ${optIn}`, async (table) => {
      const atMs = this.#world.scheduler.now;
      const from = (await readCluster(this.#world.table, this.#world.cluster))?.optIn ?? optIn;
      await switchOptIn(table, this.#world.cluster, optIn, atMs);
      await this.#note(`opt-in ${optIn}`, atMs, { optIn: { from, to: optIn } });
    });
  }

  /** The write has no faults: these worlds do not lose an audit record after its switch. */
  async #note(what: string, atMs: number, change: Pick<AuditRecord, 'mode' | 'optIn'>): Promise<void> {
    await recordAudit(this.#world.table, this.#world.cluster, {
      at: new Date(atMs).toISOString(),
      who: 'operator',
      what,
      ...change,
    });
  }

  /** A zone is away for some seconds, and comes back by itself before the last fault is over. */
  planZoneSwitch(random: Random): void {
    const { faultsUntilMs } = this.#world.profile;
    const from = random.between(0, faultsUntilMs - 4000);
    const forMs = Math.min(random.between(2_000, 30_000), faultsUntilMs - from - 1_000);
    this.#world.scheduler.after(from, () => {
      const nodes = this.#world.store.list('Node', '');
      if (nodes.length === 0) return;
      const zone = random.pick(nodes).metadata.name;
      const sinceMs = this.#world.scheduler.now;
      const sent = { zone, sinceMs, untilMs: sinceMs + forMs, by: 'operator' };
      this.#switch(`zone ${zone} away`, (table) => sendAway(table, this.#world.cluster, sent));
    });
  }

  #switchTo(mode: 'paused' | 'shadow' | 'active'): void {
    const isBack = mode === modeOf(this.#world.profile);
    this.#switch(mode, async (table) => {
      const from = (await readCluster(this.#world.table, this.#world.cluster))?.mode ?? mode;
      if (isBack) this.#world.awaySince = Number.POSITIVE_INFINITY;
      const atMs = this.#world.scheduler.now;
      await switchMode(table, this.#world.cluster, mode, atMs);
      await this.#note(mode, atMs, { mode: { from, to: mode } });
      this.#world.listedThen?.switched(mode);
      // A shadow cluster where services opt in is written to.
      if (!isBack && !(mode === 'shadow' && this.#world.profile.optIn === 'active'))
        this.#world.awaySince = this.#world.scheduler.now;
    });
  }

  #switch(what: string, change: (table: Table) => Promise<unknown>): void {
    const actor = this.#processes.actor('operator', { lucky: true });
    const table = this.#processes.table(actor);
    const run = async (): Promise<void> => {
      actor.trace(`switches to ${what}`);
      await change(table);
      const meta = await readCluster(table, this.#world.cluster);
      if (meta?.modeSwitch.wakesPending)
        await addAll(
          {
            table,
            queues: () => this.#processes.clusterQueues(actor),
            now: () => this.#world.scheduler.now,
            log: this.#processes.log(actor),
          },
          meta,
        );
    };
    void run();
  }

  sweep(sweeps: Sweeps): void {
    void checkCircuit(this.#world);
    void sweeps.run(watchedMetrics(this.#world, this.#processes.metricsPort));
  }

  /** Plays an operator who redrives the dead-letter and parked queues. */
  redrive(): void {
    const { syncs, parked, events } = this.#world.queues;
    const actor = this.#processes.actor('operator', { lucky: true });
    const wake = async (message: Message): Promise<void> => {
      this.#world.redriven++;
      const { namespace, kind, name, generation, part } = decodeMessage(message.body) as Partial<ParkedCopy> &
        Pick<ParkedCopy, 'namespace' | 'kind' | 'name' | 'generation'>;
      actor.trace(`re-drives ${message.body}`);
      if (this.#processes.mutant?.redriveCopies && part)
        return syncs.add({
          body: JSON.stringify({
            v: 1,
            cluster: this.#world.cluster,
            namespace,
            kind,
            name,
            generation,
            retryNumbers: { [part]: 0 },
          }),
        });
      const deps = { table: this.#processes.table(actor), now: () => this.#world.scheduler.now };
      await addWork(deps, this.#processes.queue(actor, 'syncs'), this.#world.cluster, [
        wakeNow(namespace, name, kind),
      ]);
    };
    for (const message of syncs.dead.splice(0)) void wake(message);
    // Events have the state as of a version, so they can arrive at any time. A heartbeat says that the relay
    // lives now.
    for (const { body } of events.dead.splice(0))
      if (!body.includes('"type":"heartbeat"')) events.add({ body });
    if (!this.#world.isOver) return;
    for (const message of [...parked.messages.values()]) {
      // Many events in a short time use up the retries of a pod whose node is missing, or of a namespace that
      // is gone, as they do upstream.
      const { webhook, apiFailures, culprit } = this.#world.profile;
      const due =
        webhook ||
        apiFailures > 0 ||
        culprit !== 'none' ||
        /Node \S+ Not Found|namespaces \S+ not found/.test(message.body);
      if (!due) this.#world.fail(`parked without a cause: ${message.body}`);
      parked.delete(message.id);
      void wake(message);
    }
  }
}
