import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { Limits } from '#shared/contract/limits.ts';
import { maxPauseMs, maxStallMs, ordinaryLimits } from './draw-limits.ts';
import { drawProfile, type Profile } from './profile.ts';
import { Random } from './random.ts';

const profiles: readonly Profile[] = Array.from({ length: 1_000 }, (_, seed) =>
  drawProfile(new Random(seed), new Random(seed + 0x5eed), false),
);
const named = ({ requeue: _, ...limits }: Limits): readonly (readonly [string, number])[] =>
  Object.entries(limits).flatMap(([stage, of]) =>
    Object.entries(of as object).map(([name, value]) => [`${stage}.${name}`, value as number] as const),
  );

it('docs/limits.md marks the limits that the simulation draws', () => {
  const ordinary = new Map(named(ordinaryLimits));
  const drawn = new Set(
    profiles.flatMap(({ limits }) =>
      named(limits).flatMap(([name, value]) => (value === ordinary.get(name) ? [] : [name])),
    ),
  );
  const rows = [
    ...readFileSync('docs/limits.md', 'utf8').matchAll(/^\| `(\w+\.\w+)` \|.*\| (drawn|-) \|$/gm),
  ];
  const listed = rows.filter(([, , how]) => how === 'drawn').map(([, name]) => name as string);
  expect(rows).toHaveLength(ordinary.size);
  expect(listed.sort()).toEqual([...drawn].sort());
});

it('the drawn limits keep the relations between limits', () => {
  for (const { limits, pauses, stalls, fatLabels } of profiles) {
    const { ingest, sync, relay, queue, runs } = limits;
    const maxRunMs = runs.ingestMs + (pauses > 0 ? maxPauseMs : 0) + (stalls > 0 ? maxStallMs : 0);
    expect(ingest.tombstoneMs).toBeGreaterThanOrEqual(maxRunMs);
    expect(sync.leaseMs).toBeGreaterThan(runs.syncMs);
    expect(runs.syncMs).toBeGreaterThan(2 * sync.reserveMs);
    expect(sync.briefCallMs + sync.saveMs).toBeLessThanOrEqual(sync.reserveMs);
    if (fatLabels)
      expect(queue.inflateBytes).toBeGreaterThan(
        Math.max(relay.messageBytes, relay.partTextBytes) + relay.entryBytes,
      );
  }
});
