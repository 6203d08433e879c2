import { expect, it } from 'vitest';
import { Random } from '#test/worlds/simulation/random.ts';
import { maxPauseMs, maxStallMs } from './draw-limits.ts';
import { drawProfile, type Profile } from './profile.ts';

const profiles: readonly Profile[] = Array.from({ length: 1_000 }, (_, seed) =>
  drawProfile(new Random(seed), new Random(seed + 0x5eed), false),
);

it('the drawn limits keep the relations between limits', () => {
  for (const { limits, pauses, stalls, fatLabels } of profiles) {
    const { ingest, sync, relay, queue, runs } = limits;
    const maxRunMs = runs.ingestMs + (pauses > 0 ? maxPauseMs : 0) + (stalls > 0 ? maxStallMs : 0);
    expect(ingest.tombstoneMs).toBeGreaterThanOrEqual(maxRunMs);
    expect(sync.leaseMs).toBeGreaterThan(runs.workerMs);
    expect(runs.workerMs).toBeGreaterThan(2 * sync.reserveMs);
    expect(sync.briefCallMs + sync.saveMs).toBeLessThanOrEqual(sync.reserveMs);
    if (fatLabels)
      expect(queue.inflateBytes).toBeGreaterThan(
        Math.max(relay.messageBytes, relay.partTextBytes) + relay.entryBytes,
      );
  }
});
