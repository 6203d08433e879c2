import { type ChurnLoad, type ChurnResult, runChurn } from '#test/support/control-plane/churn.ts';
import { startControlPlane } from '#test/support/control-plane/control-plane.ts';
import { type Cost, costOfFlip } from './cost.ts';
import type { WriterKind } from './writers.ts';

export interface Measured {
  readonly result: ChurnResult;
  readonly cost: Cost;
}

/** Each measurement has a fresh control plane and a fresh writer. */
export async function measure(kind: WriterKind, load: ChurnLoad, warmUpSeconds: number): Promise<Measured> {
  const controlPlane = await startControlPlane({
    controllers: kind.controllers,
    controllerManagerFlags: kind.flags ?? [],
  });
  try {
    const running = await kind.start(controlPlane);
    const churn = (of: ChurnLoad): Promise<ChurnResult> =>
      runChurn(controlPlane.binary, controlPlane.kubeconfig, of);
    try {
      // A controller runs for months; a compiler that runs beside it is busy in its first half minute only.
      if (warmUpSeconds > 0) await churn({ ...load, seconds: warmUpSeconds, namespace: 'warm-up' });
      // Making and deleting the services is no part of a flip's work, so the same load without flips is
      // measured first.
      const works = [await running.work()];
      await churn({ ...load, rate: 0, namespace: 'fill' });
      works.push(await running.work());
      const result = await churn(load);
      works.push(await running.work());
      if (result.endpoints.lost + result.slices.lost > 0) console.error(running.lines.slice(-40).join('\n'));
      return { result, cost: costOfFlip(works, result.flips) };
    } finally {
      await running.stop();
    }
  } finally {
    await controlPlane.stop();
  }
}
