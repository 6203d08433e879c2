/**
 * Operators who rebuild clusters of a set, lose or restore the hub's table, or pause an exporter for longer
 * than its tombstones live.
 */
import { rebuild } from '#infra/cli/act/rebuild.ts';
import { switchMode } from '#shared/clusters/writer/mode-switch.ts';
import { noMembership } from '#shared/clusterset/contract/clusterset-settings.ts';
import { saveMembership } from '#shared/clusterset/membership/clusterset-membership.ts';
import type { SimulatedTable } from '#test/worlds/simulation/world/simulated-table.ts';
import type { HubTrouble } from './draw.ts';
import type { Member } from './member.ts';
import type { SetState } from './set-state.ts';

/** The world, as operators change it. */
export interface Operated extends SetState {
  readonly table: SimulatedTable;
  readonly members: readonly Member[];
  readonly monitor: { onSwitch(): void };
  isTableGone: boolean;
  register(member: Member): Promise<void>;
}

/** Relays restart one after the other within this time. */
const restartsMs = 90_000;
/** Runs that began before the loss have ended by then. */
const goneMs = 40_000;
/** Runs of imports come again after up to five minutes. */
const knownAgainMs = 400_000;

export function planHubTrouble(world: Operated): void {
  const { scheduler, random, set } = world;
  const troubles: { readonly [T in HubTrouble]: () => void } = {
    none: () => {},
    rebuild: () => void rebuildAll(world, [random.pick(inFleet(world))]),
    loss: () => void loseTable(world),
    restore: () => void restoreTable(world, random.between(1_000, 15_000)),
    pause: () => pause(world),
  };
  if (set.hubTrouble !== 'none') scheduler.after(random.between(5_000, 20_000), troubles[set.hubTrouble]);
}

const inFleet = ({ members }: Operated): readonly Member[] => members.filter((m) => !m.hasLeft);

const passed = ({ scheduler }: Operated, ms: number): Promise<void> =>
  new Promise((resolve) => scheduler.after(ms, resolve));

function restart(member: Member): void {
  if (member.hasLeft) return;
  member.killRelays();
  member.relays.start();
}

function restartLater(world: Operated): void {
  const { scheduler, random } = world;
  for (const member of inFleet(world)) {
    member.prescribedUntil = Math.max(member.prescribedUntil, scheduler.now + knownAgainMs);
    scheduler.after(random.between(1, restartsMs), () => restart(member));
  }
}

async function rebuildAll(world: Operated, members: readonly Member[]): Promise<void> {
  const { table, scheduler } = world;
  const say = (line: string): void => world.tell('operator', line);
  const ids = members.map((m) => m.cluster);
  await rebuild(
    { table, now: () => scheduler.now, wait: (ms) => passed(world, ms), say, who: 'operator' },
    ids,
  );
  for (const member of members) restart(member);
}

async function clear(table: SimulatedTable): Promise<void> {
  for (const { pk, sk } of await table.items()) await table.delete({ pk, sk });
}

/** Calls fail while the table is gone. Then it is empty, and the clusters are registered again. */
async function loseTable(world: Operated): Promise<void> {
  world.tell('operator', 'the table is lost');
  world.isTableGone = true;
  await passed(world, goneMs);
  await clear(world.table);
  world.isTableGone = false;
  world.tell('operator', 'the table is empty');
  for (const member of inFleet(world)) {
    await world.register(member);
    await saveMembership(world.table, member.cluster, world.memberships.get(member.cluster) ?? noMembership);
  }
  restartLater(world);
}

async function restoreTable(world: Operated, ageMs: number): Promise<void> {
  const backup = await world.table.items();
  await passed(world, ageMs);
  world.tell('operator', 'the table is lost');
  world.isTableGone = true;
  await passed(world, goneMs);
  await clear(world.table);
  for (const item of backup) await world.table.put(item);
  world.isTableGone = false;
  world.tell('operator', `the table is as it was ${ageMs + goneMs} ms ago`);
  await rebuildAll(world, inFleet(world));
  restartLater(world);
}

/** The relay lists during the pause, so tombstones are purged. */
function pause(world: Operated): void {
  const { table, scheduler, random } = world;
  const member = random.pick(inFleet(world).filter((m) => m.takesPart.exports));
  const switchTo = (mode: 'paused' | 'shadow'): void => {
    if (member.hasLeft) return;
    world.tell('operator', `${member.cluster}: ${mode}`);
    world.monitor.onSwitch();
    void switchMode(table, member.cluster, mode, scheduler.now);
  };
  switchTo('paused');
  for (const ms of [20_000, 35_000]) scheduler.after(ms, () => restart(member));
  scheduler.after(random.between(40_000, 50_000), () => switchTo('shadow'));
}
