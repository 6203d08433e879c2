/**
 * The hand-over of a Service's slices from its former writer (docs/use/opt-in.md). The run has written what the
 * next writer has to write, and has read the Service from the cluster.
 */
import { ClusterApiError, isConflict } from '#shared/clusters/api/errors.ts';
import { writesOptIn } from '#shared/clusters/writer/mode.ts';
import {
  type HandOver,
  type HandOverInput,
  handOver,
  isBuiltInSlice,
  isHandOverNote,
  isMirroredSlice,
  isOptInSlice,
  servedBy,
  waitingForOthers,
  waitingText,
} from '#shared/controllers/opt-in/hand-over.ts';
import { handedOverEvent, handOverWaitsEvent } from '#shared/controllers/slices/outcome.ts';
import type { SliceDraft } from '#shared/controllers/slices/plan.ts';
import { labelServiceName } from '#shared/kube/names.ts';
import type { EndpointSlice, Endpoints, Pod } from '#shared/kube/types.ts';
import type { OutputObject } from '#shared/store/outputs/outputs.ts';
import { readDifference, saveDifference } from '#shared/store/outputs/shadow-record.ts';
import { type Outcome, ok } from '#shared/workqueue/rules/outcome.ts';
import { faultOf } from '../admission/failure-outcome.ts';
import { listPods } from '../state/live-pods.ts';
import { requeue } from '../state/requeue.ts';
import type { Run } from '../state/run.ts';
import { comparedLater } from '../state/run-result.ts';
import { inOrder, type RunStep } from '../state/steps.ts';
import { isOffBeside, isRefusedWhileOff } from './opt-in-off.ts';
import { deleteOutput } from './plan-and-write.ts';
import { planSlices, podsIn } from './slices-controller.ts';
import { podsInCluster, verifiedPods } from './verified-pods.ts';

type By = HandOverInput['writer'];

type HandOverStep<From, Next> = RunStep<From, Next, Outcome>;

interface BegunHandOver {
  readonly run: Run;
  /** The next writer. */
  readonly by: By;
}

/** As the cluster has it. */
interface FoundHandOver extends BegunHandOver {
  readonly slices: readonly EndpointSlice[];
  readonly endpoints: Endpoints | undefined;
  readonly plan: HandOver;
  /** Slices that are to be deleted. */
  readonly gone: readonly EndpointSlice[];
}

const findHandOver: HandOverStep<BegunHandOver, FoundHandOver> = async ({ run, by }) => {
  const { api, cluster, key, inputs } = run;
  const { items: slices } = await api.list('EndpointSlice', key.namespace, {
    labels: { [labelServiceName]: key.name },
  });
  const endpoints = by === 'opt-in' ? await api.get('Endpoints', key.namespace, key.name) : undefined;
  // While the switch is off, nothing guards the snapshot against a wrong list.
  const live = by === 'built-in' && isOffBeside(cluster) ? await podsInCluster(run, 'slices') : undefined;
  const ready = servedBy(slicesOf(run, live ?? inputs.pods));
  const plan = handOver({ writer: by, slices, endpoints, ready });
  const gone = [...plan.leftovers.slices, ...plan.withdrawn];
  return { next: { run, by, slices, endpoints, plan, gone } };
};

/**
 * Outputs of the former writer that the cluster has no more. Those that the run itself has read and written
 * are skipped: if another client has deleted one since, its event shows that.
 */
const recordMissing: HandOverStep<FoundHandOver, FoundHandOver> = async (found) => {
  const { run, by, slices, endpoints } = found;
  const isFormer = by === 'opt-in' ? isBuiltInSlice : isOptInSlice;
  const there = new Set(slices.filter(isFormer).map((s) => s.metadata.name));
  const isGone = {
    Endpoints: () => by === 'opt-in' && !endpoints,
    EndpointSlice: (object: OutputObject) =>
      isFormer(object as EndpointSlice) && !there.has(object.metadata.name),
  };
  for (const { kind, object } of run.inputs.outputs) {
    if (!object || !isGone[kind](object)) continue;
    run.server.recordMissing(kind, object);
    run.server.needsLeaseCheck = true;
  }
  return { next: found };
};

const awaitNextWriter: HandOverStep<FoundHandOver, FoundHandOver> = async (found) =>
  found.plan.isWaiting ? { end: await waitForNextWriter(found) } : { next: found };

const verifySnapshot: HandOverStep<FoundHandOver, FoundHandOver> = async (found) => {
  const { run, by, slices, plan, gone } = found;
  const inDoubt = (reason: string) => ({ end: requeue(run.deps, 'endpointsKept', { reason }) });
  if (gone.length > 0 && by !== 'none' && (await isDoubtful(run, slices)))
    return inDoubt('snapshot differs from the cluster');
  // A mirror goes with its Endpoints.
  const stay = slices.filter((s) => !gone.includes(s) && !(plan.leftovers.endpoints && isMirroredSlice(s)));
  if (by === 'opt-in' && (await showsPodsToCome(run, gone, stay)))
    return inDoubt('a pod of the built-in slices is not known yet');
  return { next: found };
};

const deleteFormer: HandOverStep<FoundHandOver, FoundHandOver> = async (found) => {
  const { run, plan, gone } = found;
  const { namespace, name } = run.key;
  try {
    if (plan.leftovers.endpoints) await deleteOutput(run, 'Endpoints', plan.leftovers.endpoints);
    for (const slice of gone) await deleteOutput(run, 'EndpointSlice', slice);
    return { next: found };
  } catch (error) {
    if (isRefusedWhileOff(run.cluster, error) || !(error instanceof ClusterApiError)) throw error;
    if (isConflict(error))
      return {
        end: requeue(run.deps, 'soon', { reason: 'another client writes what is to be handed over' }),
      };
    const failed = { kind: 'failed', error: `hand-over of ${namespace}/${name}: ${error.message}` } as const;
    return { end: (await faultOf(run, error, 'write')) ?? failed };
  }
};

async function endHandOver({ run, by, plan, gone }: FoundHandOver): Promise<Outcome> {
  const { deps, cluster, key } = run;
  if (gone.length > 0) {
    const counts = { withdrawn: plan.withdrawn.length, leftovers: plan.leftovers.slices.length };
    deps.log.info('service handed over', { ...key, to: by, ...counts });
    await tellHandedOver(run, by);
  }
  await forgetPreview(run, by);
  // Shadow mode compares from now on, in a run without writes of ours.
  if (plan.withdrawn.length > 0 && cluster.mode === 'shadow')
    return requeue(deps, 'unconfirmed', { reason: comparedLater.afterHandOver });
  return ok;
}

async function tellHandedOver({ deps, cluster, inputs, brief }: Run, by: By): Promise<void> {
  if (inputs.service && by !== 'none' && writesOptIn(cluster))
    await deps.events.record(brief, handedOverEvent(inputs.service, by === 'opt-in'));
}

export const handOverSlices = inOrder(findHandOver)
  .next(recordMissing)
  .next(awaitNextWriter)
  .next(verifySnapshot)
  .next(deleteFormer)
  .last(endHandOver);

/** Slices as they would be made of these pods from nothing. */
const slicesOf = ({ cluster, inputs }: Run, pods: readonly Pod[]): readonly SliceDraft[] =>
  planSlices(cluster, { ...inputs, pods }, []).addressTypes.flatMap((t) => t.create);

/**
 * The slices of both writers may show many more pods than the snapshot holds: then the cluster's own list of
 * pods decides.
 */
async function isDoubtful(run: Run, slices: readonly EndpointSlice[]): Promise<boolean> {
  const before = [...new Set(podsIn(slices.filter((s) => isOptInSlice(s) || isBuiltInSlice(s))))];
  const leftBy = (pods: readonly Pod[]) => podsIn(slicesOf(run, pods));
  const left = leftBy(run.inputs.pods);
  return (await verifiedPods(run, { controller: 'slices', before, left, leftBy })) !== undefined;
}

/**
 * Do these slices alone show a Pod that the snapshot has not, and the cluster has? The relay may be late with
 * it, and the built-in controllers were not. After that the service is theirs no more, so slices that they
 * left show Pods that have gone since: the cluster is asked only then.
 */
async function showsPodsToCome(
  { api, key, inputs }: Run,
  gone: readonly EndpointSlice[],
  stay: readonly EndpointSlice[],
): Promise<boolean> {
  const uids = (slices: readonly EndpointSlice[]) =>
    slices.flatMap((s) => (s.endpoints ?? []).map((e) => e.targetRef?.uid));
  const known = new Set([
    ...inputs.namespacePods.map(({ pod }) => pod.metadata.uid),
    ...uids(stay),
    undefined,
  ]);
  const unknown = new Set(uids(gone).filter((uid) => !known.has(uid)));
  const live =
    unknown.size > 0 ? await listPods(api, key.namespace, inputs.service?.spec?.selector ?? {}) : [];
  return live.some((p) => unknown.has(p.metadata.uid));
}

/** Explain and the console read from the saved difference since when the hand-over waits. */
async function waitForNextWriter({ run, by }: BegunHandOver): Promise<Outcome> {
  const { deps, key, inputs, brief, cluster } = run;
  const known = await readDifference(deps.table, key);
  const isKnown = known?.text === waitingText;
  if (!isKnown)
    await saveDifference(deps.table, key, { text: waitingText, sinceMs: deps.now(), confirmed: false });
  const seconds = isKnown ? (deps.now() - known.sinceMs) / 1000 : 0;
  if (seconds >= waitReportedSeconds && inputs.service) {
    deps.metrics.put('HandOversWaiting', 1, { cluster: key.cluster });
    if (writesOptIn(cluster))
      await deps.events.record(brief, handOverWaitsEvent(inputs.service, by === 'opt-in'));
  }
  // Each wait is twice as long as the one before.
  return requeue(deps, 'soon', { reason: waitingForOthers, rounds: Math.floor(Math.log2(seconds + 1)) });
}

/** kube-controller-manager starts, lists and writes within this time. */
const waitReportedSeconds = 30;

/** Deletes the note of the wait, or the preview: the hand-over is done. */
export async function forgetPreview({ deps, key }: Run, by: By): Promise<void> {
  const known = await readDifference(deps.table, key);
  if (known && (isHandOverNote(known.text) || by === 'opt-in'))
    await saveDifference(deps.table, key, undefined);
}
