/** The endpoints controller's part of a run: decide, then write with preconditions. */
import { ClusterApiError, isAlreadyExists, isConflict, isNotFound } from '#shared/cluster-api/errors.ts';
import { decideEndpoints } from '#shared/endpoints/decide.ts';
import { endpointsFailure } from '#shared/endpoints/outcome.ts';
import type { EndpointsPlan, EndpointsWrite } from '#shared/endpoints/plan.ts';
import { lastContentWrite } from '#shared/kube/field-managers.ts';
import type { Endpoints, Pod } from '#shared/kube/types.ts';
import type { OutputChange } from '#shared/pods/view.ts';
import { type Outcome, ok } from '#shared/workqueue/rules/outcome.ts';
import { classifyFailure } from '../admission/circuit-breaker.ts';
import { noteIfForeign } from '../guards/foreign-writes.ts';
import { endOfRun, verifiedPods } from '../guards/mass-removal-guard.ts';
import { endpointsIn } from '../state/inputs.ts';
import { mayBeOutdated, type Run } from '../state/run.ts';

export async function runEndpoints(run: Run): Promise<Outcome> {
  const { inputs } = run;
  const isKnown = inputs.outputs.some((o) => o.kind === 'Endpoints');
  const readLive = mayBeOutdated(run, 'endpoints') || !isKnown || !inputs.service;
  let current = readLive ? await readCurrent(run) : endpointsIn(inputs.outputs);
  const { namespace, name } = run.key;
  const planWith = (pods: readonly Pod[]): EndpointsPlan =>
    decideEndpoints({ namespace, name, service: inputs.service, pods, current, triggerTimes: inputs.triggers.triggers.endpoints });
  const written = ({ write }: EndpointsPlan): Endpoints | undefined => (write ? ('object' in write ? write.object : undefined) : current);
  const podsLeft = (plan: EndpointsPlan): readonly string[] => podsIn(written(plan));
  const changes = (plan: EndpointsPlan): OutputChange => ({ before: current ? [current] : [], after: [written(plan) ?? {}] });
  /** As the cluster lists them. */
  let live: readonly Pod[] | undefined;
  for (let attempt = 1; ; attempt++) {
    const plan = live ? planWith(live) : await run.pods.plan(planWith, changes);
    run.nextTrackers.triggers = { ...run.nextTrackers.triggers, endpoints: plan.triggerTimes };
    if (!plan.write) return endOfRun(run, !live);
    if (!live) {
      live = await verifiedPods(run, {
        controller: 'endpoints',
        before: podsIn(current),
        left: podsLeft(plan),
        leftBy: (pods) => podsLeft(planWith(pods)),
      });
      if (live) continue;
    }
    try {
      run.assertTimeToWrite();
      await write(run, plan, current);
      return endOfRun(run, !live);
    } catch (error) {
      if (attempt === 1 && (isConflict(error) || isAlreadyExists(error) || (isNotFound(error) && plan.write.verb === 'update'))) {
        run.deps.metrics.put('SyncsConflict', 1, { cluster: run.key.cluster });
        current = await readCurrent(run);
        continue;
      }
      return failure(run, plan.write, error);
    }
  }
}

/** Reads the Endpoints of a Service that is not the controller's task, if the saved ones may be outdated. */
export async function lookAtEndpoints(run: Run): Promise<void> {
  if (mayBeOutdated(run, 'endpoints') && endpointsIn(run.inputs.outputs)) await readCurrent(run);
}

async function write(run: Run, plan: EndpointsPlan, current: Endpoints | undefined): Promise<void> {
  const { api, server, key } = run;
  switch (plan.write?.verb) {
    case 'create':
      server.recordPresent('Endpoints', await api.create('Endpoints', plan.write.object));
      break;
    case 'update':
      server.recordPresent('Endpoints', await api.replace('Endpoints', plan.write.object));
      break;
    case 'delete': {
      // Upstream deletes whatever is there (EP-2); we come later, so only what we have just seen.
      if (!current) return;
      const { uid = '', resourceVersion = '' } = current.metadata;
      await api.delete('Endpoints', key.namespace, key.name, { uid, resourceVersion });
      server.recordAbsent('Endpoints', current);
      break;
    }
  }
  server.countWrite('Endpoints', undefined, plan.write?.verb === 'delete' ? 'delete' : 'write');
}

async function readCurrent(run: Run): Promise<Endpoints | undefined> {
  const current = await run.api.get('Endpoints', run.key.namespace, run.key.name);
  run.server.needsLeaseCheck = true;
  if (current) {
    noteIfForeign(run, 'Endpoints', current);
    run.server.recordFound('Endpoints', current, 'present', lastContentWrite(current)?.manager);
  } else {
    const saved = endpointsIn(run.inputs.outputs);
    if (saved) run.server.recordFound('Endpoints', saved, 'absent');
  }
  return current;
}

async function failure(run: Run, write: EndpointsWrite, error: unknown): Promise<Outcome> {
  if (!(error instanceof ClusterApiError)) throw error;
  const { retry, event } = endpointsFailure(write, run.inputs.service, {
    ...error,
    message: error.message,
    causes: error.causes,
    status: error.status,
  });
  if (!retry) return ok;
  const fault = await classifyFailure(run, error);
  if (event && fault?.kind !== 'postponed') await run.deps.events.record(run.brief, event);
  return fault ?? { kind: 'failed', error: error.message };
}

/** By uid, one for each address. */
const podsIn = (e: Endpoints | undefined): readonly string[] =>
  (e?.subsets ?? []).flatMap((s) => [...(s.addresses ?? []), ...(s.notReadyAddresses ?? [])]).map((a) => a.targetRef?.uid ?? '');
