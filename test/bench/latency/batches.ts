import { type BatchKind, batchKind } from '../batch-kind.ts';
import { clusterObjects, exportOf } from '../cost/cluster-objects.ts';
import { AwsWorld, type Stage } from './aws-world.ts';
import { MeasuredChanges } from './measured-changes.ts';
import type { Scenario } from './scenarios.ts';

/** The kind of a warm batch, and its mean duration in a function, ms. */
export interface BatchTime {
  readonly what: BatchKind;
  readonly batches: number;
  readonly meanMs: number;
}

export async function batchTimes({ size, options, run }: Scenario): Promise<readonly BatchTime[]> {
  const times = new Map<BatchKind, number[]>();
  const onBatch = (stage: Stage, ms: number, bodies: readonly string[]): void => {
    const what = batchKind(stage, bodies);
    times.set(what, [...(times.get(what) ?? []), ms]);
  };
  const given = [
    ...clusterObjects(size),
    ...(options?.exportsToItself ? [exportOf('shop-0', 'service-0')] : []),
  ];
  const world = await AwsWorld.start({ given, ...options, onBatch });
  await run(world, new MeasuredChanges(world));
  return [...times].map(([what, all]) => ({
    what,
    batches: all.length,
    meanMs: all.reduce((a, b) => a + b, 0) / all.length,
  }));
}
