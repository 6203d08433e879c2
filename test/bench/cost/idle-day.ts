/**
 * The cost of a day without a change, of one more importing cluster, by the number of clusters that export a
 * name.
 */
import { exporter, importer } from '#test/clusterset/support/set-objects.ts';
import { type MemberOptions, SetWorld } from '#test/clusterset/support/set-world.ts';
import { difference, dollarsOf, meterOf, type Use } from './exports.ts';

const daySeconds = 24 * 3600;

/** Fails if an importer pays more where more clusters export the name. */
export async function printIdleDay(): Promise<void> {
  console.log(
    'A day without a change, of one more importing cluster: heartbeats and sweep, and each import run again twice\n',
  );
  console.log(
    '| clusters that export a name | write units | read units | queue requests | US dollars a year |',
  );
  console.log('| --- | --- | --- | --- | --- |');
  const rows: Use[] = [];
  for (const exporters of [0, 1, 5]) {
    const use = difference(await useOf(exporters, 2), await useOf(exporters, 1));
    rows.push(use);
    const cells = [
      exporters,
      use.writeUnits,
      use.readUnits,
      use.queueRequests,
      (dollarsOf(use) * 365).toFixed(2),
    ];
    console.log(`| ${cells.join(' | ')} |`);
  }
  console.log('');
  const [, one, five] = rows;
  if (one && five && five.writeUnits > one.writeUnits)
    throw new Error(`an idle importer writes ${five.writeUnits - one.writeUnits} units more`);
}

async function useOf(exporters: number, importers: number): Promise<Use> {
  const members = (count: number, of: (i: number) => readonly [string, MemberOptions]) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => of(i)));
  const world = await SetWorld.start({
    ...members(importers, (i) => [`a${i}`, importer()]),
    ...members(exporters, (i) => [`x${i}`, exporter(`10.${i + 2}.0`)]),
  });
  await world.pass(150);
  return meterOf(world)(() => world.pass(daySeconds));
}
