/** Connects to the cluster and reads the inputs of a run that writes. */
import { ok } from '#shared/workqueue/rules/outcome.ts';
import { connect } from '../admission/circuit-breaker.ts';
import { timeLeft } from '../state/deadline.ts';
import { readInputs } from '../state/inputs.ts';
import type { Run } from '../state/run.ts';
import { ServerState } from '../state/server-state.ts';
import { type ComparedRun, nothingDone, type ReadRun, type ServiceStep } from './service-run.ts';

export const readRun: ServiceStep<ComparedRun, ReadRun> = async (compared) => {
  const run = await connectAndRead(compared);
  const { namespace, name } = run.key;
  // A service that the snapshot has never seen may just be on its way, and then its own message wakes it
  // (docs/reference/parity.md D5).
  if (!run.inputs.serviceRecord && (await run.api.get('Service', namespace, name)))
    return { end: nothingDone(compared, ok) };
  return { next: { ...compared, run } };
};

async function connectAndRead({ deps, cluster, claim, deadlineMs, ...read }: ComparedRun): Promise<Run> {
  const { items, observed, reads, deltas } = read;
  const left = timeLeft(deps, deadlineMs);
  const { api, named } = await connect(deps, cluster, left.call);
  const brief = await deps.cluster(named, left.brief);
  const inputs = await readInputs(deps, {
    ...{ cluster, key: claim.service, triggers: reads.triggers, items, deltas },
    source: 'written',
    prefetched: await reads.inputs,
  });
  const { counts } = items;
  return {
    deps,
    cluster,
    key: claim.service,
    api,
    brief,
    work: claim.item,
    rounds: claim.message.requeues ?? 0,
    inputs,
    observed: observed?.outputs,
    managedBy: inputs.writers.slices.managedBy,
    counts,
    wasTakenOver: claim.wasTakenOver,
    server: new ServerState(cluster.incarnation, inputs.outputs, deps.now),
    foreignWrites: [],
    notes: [],
    nextTrackers: { triggers: inputs.triggers.triggers, hints: counts.hints, gauges: counts.gauges },
  };
}
