/** The endpoints controller's part of a run. */
import { ClusterApiError, isAlreadyExists, isConflict, isNotFound } from '#shared/clusters/api/errors.ts';
import { decideEndpoints } from '#shared/controllers/endpoints/decide.ts';
import { endpointsFailure } from '#shared/controllers/endpoints/outcome.ts';
import type { EndpointsPlan, EndpointsWrite } from '#shared/controllers/endpoints/plan.ts';
import { lastContentWrite } from '#shared/kube/field-managers.ts';
import type { Endpoints } from '#shared/kube/types.ts';
import { type Outcome, ok } from '#shared/workqueue/rules/outcome.ts';
import { faultOf } from '../admission/failure-outcome.ts';
import { noteIfForeign } from '../guards/foreign-writes.ts';
import { endpointsIn } from '../state/inputs.ts';
import { mustReadFromApiServer, type Run } from '../state/run.ts';
import { deleteOutput, planAndWrite, type Written } from './plan-and-write.ts';

export async function runEndpoints(run: Run): Promise<Outcome> {
  const { inputs } = run;
  const isSaved = inputs.outputs.some((o) => o.kind === 'Endpoints' && !o.isMetadataOnly);
  const readFromApiServer = mustReadFromApiServer(run, 'endpoints') || !isSaved || !inputs.service;
  let current = readFromApiServer ? await readCurrent(run) : endpointsIn(inputs.outputs);
  const { namespace, name } = run.key;
  const written = ({ write }: EndpointsPlan): Endpoints | undefined =>
    write ? ('object' in write ? write.object : undefined) : current;
  return planAndWrite<EndpointsPlan>(run, {
    controller: 'endpoints',
    planWith: (pods) =>
      decideEndpoints({
        namespace,
        name,
        service: inputs.service,
        pods,
        nodes: inputs.nodes,
        zonesAway: inputs.zonesAway,
        current,
        triggerTimes: inputs.triggers.triggers.endpoints,
      }),
    podsNow: () => podsIn(current),
    podsLeft: (plan) => podsIn(written(plan)),
    track: ({ triggerTimes }) => {
      run.nextTrackers.triggers = { ...run.nextTrackers.triggers, endpoints: triggerTimes };
    },
    write: (plan) => write(run, plan, current),
    readAgain: async () => {
      current = await readCurrent(run);
    },
  });
}

/** Reads the Endpoints of a Service that is not the controller's task, if the saved ones may be outdated. */
export async function lookAtEndpoints(run: Run): Promise<void> {
  if (mustReadFromApiServer(run, 'endpoints') && endpointsIn(run.inputs.outputs)) await readCurrent(run);
}

async function write(run: Run, { write }: EndpointsPlan, current: Endpoints | undefined): Promise<Written> {
  if (!write) return { kind: 'done' };
  try {
    await applyWrite(run, write, current);
    return { kind: 'done' };
  } catch (error) {
    const isStale =
      isConflict(error) || isAlreadyExists(error) || (isNotFound(error) && write.verb === 'update');
    return { kind: isStale ? 'stale' : 'failed', failure: () => failure(run, { write, current }, error) };
  }
}

async function applyWrite(run: Run, write: EndpointsWrite, current: Endpoints | undefined): Promise<void> {
  if (write.verb === 'delete') {
    // Upstream deletes the Endpoints in any version (EP-2). This run comes later, so it deletes the version
    // that it has read.
    if (current) await deleteOutput(run, 'Endpoints', current);
    return;
  }
  const { api, server } = run;
  server.recordPresent(
    'Endpoints',
    await (write.verb === 'create'
      ? api.create('Endpoints', write.object)
      : api.replace('Endpoints', write.object)),
  );
  server.countWrite('Endpoints');
}

async function readCurrent(run: Run): Promise<Endpoints | undefined> {
  const current = await run.api.get('Endpoints', run.key.namespace, run.key.name);
  run.server.needsLeaseCheck = true;
  if (current) {
    noteIfForeign(run, 'Endpoints', current);
    run.server.recordFound('Endpoints', current, lastContentWrite(current)?.manager);
  } else {
    const saved = endpointsIn(run.inputs.outputs);
    if (saved) run.server.recordMissing('Endpoints', saved);
  }
  return current;
}

interface FailedWrite {
  readonly write: EndpointsWrite;
  readonly current: Endpoints | undefined;
}

async function failure(run: Run, { write, current }: FailedWrite, error: unknown): Promise<Outcome> {
  if (!(error instanceof ClusterApiError)) throw error;
  const { retry, event } = endpointsFailure(write, { service: run.inputs.service, current }, error);
  if (!retry) return ok;
  const fault = await faultOf(run, error, 'write');
  if (event && !fault) await run.deps.events.record(run.brief, event);
  return fault ?? { kind: 'failed', error: error.message };
}

/** By uid, one for each address. */
const podsIn = (e: Endpoints | undefined): readonly string[] =>
  (e?.subsets ?? [])
    .flatMap((s) => [...(s.addresses ?? []), ...(s.notReadyAddresses ?? [])])
    .map((a) => a.targetRef?.uid ?? '');
