/**
 * The slices of a Service in a cluster where Services may opt in (docs/opt-in.md): first what its writer has
 * to write, then the hand-over from the former writer. The run reads the Service from the cluster before it
 * deletes anything.
 */
import { ClusterApiError, isConflict } from '#shared/clusters/api/errors.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { writesOptIn } from '#shared/clusters/writer/mode.ts';
import { writerFor } from '#shared/clusters/writer/writer-for.ts';
import { defaultOptInSettings } from '#shared/contract/cluster-settings.ts';
import {
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
import { withOptInSelectorFor } from '#shared/controllers/opt-in/writer.ts';
import {
  handedOverEvent,
  handOverWaitsEvent,
  slicesFailureEvent,
} from '#shared/controllers/slices/outcome.ts';
import type { SliceDraft } from '#shared/controllers/slices/plan.ts';
import { isOwnedBy } from '#shared/controllers/slices/planned-slice.ts';
import { annotationSelector, labelServiceName, optInManagedBy, slicesManagedBy } from '#shared/kube/names.ts';
import { sameSelectors } from '#shared/kube/selectors/label-selector.ts';
import type { EndpointSlice, Endpoints, Pod, Service } from '#shared/kube/types.ts';
import type { OutputRecord } from '#shared/store/outputs/outputs.ts';
import { readDifference, saveDifference } from '#shared/store/outputs/shadow-record.ts';
import { type Outcome, ok } from '#shared/workqueue/rules/outcome.ts';
import type { Claim } from '#shared/workqueue/take.ts';
import { faultOf } from '../admission/failure-outcome.ts';
import { type Inputs, isOursByOptIn } from '../state/inputs.ts';
import { listPods } from '../state/live-pods.ts';
import { requeue } from '../state/requeue.ts';
import { isRetry, mustReadFromApiServer, type Run } from '../state/run.ts';
import { comparedLater } from '../state/run-result.ts';
import { nameOf } from '../state/server-state.ts';
import { isOffBeside, isRefusedWhileOff } from './opt-in-off.ts';
import { deleteOutput } from './plan-and-write.ts';
import { planSlices, podsIn, readCurrent, runSlices } from './slices-controller.ts';
import { podsInCluster, requeueInDoubt, verifiedPods } from './verified-pods.ts';

type By = HandOverInput['writer'];

/**
 * Returns true if a run beside the built-in controllers has slices of the Service to write or to hand over.
 * `written`: outputs that sync has saved.
 */
export function concernsOptIn(
  { service, writers: { slices } }: Inputs,
  written: readonly OutputRecord[],
  { item, wasTakenOver, cluster }: Pick<Claim, 'item' | 'wasTakenOver'> & { readonly cluster: ClusterRecord },
): boolean {
  if (!service) return written.length > 0;
  const readsLive = mustReadFromApiServer(
    { wasTakenOver, work: item, inputs: { outputs: written }, cluster },
    'slices',
  );
  return (
    slices.task === 'write' || slices.by === 'invalid-annotation' || readsLive || written.some(isOursByOptIn)
  );
}

export async function runWithOptIn(run: Run): Promise<Outcome> {
  const { service, writers } = run.inputs;
  const { by, task, why } = writers.slices;
  if (!service) {
    await saveDifference(run.deps.table, run.key, undefined);
    return runSlices(run);
  }
  if (by === 'invalid-annotation' || by === 'no-annotation') {
    await lookAtSlices(run, managersOf(run));
    if (by === 'invalid-annotation') await tellHeld(run, service, why);
    else if (hasOptInSlices(run)) await tellHeld(run, service, keptWithoutAnnotation);
    return ok;
  }
  const written = task === 'write' ? await runSlices(run) : ok;
  if (written.kind !== 'ok') return written;
  await lookAtSlices(
    run,
    task === 'write' ? managersOf(run).filter((m) => m !== run.managedBy) : managersOf(run),
  );
  // Without cleanup the leftovers of the built-in controllers stay.
  if (by === 'opt-in' && !(cleans(run) && writesOptIn(run.cluster))) return ok;
  if (mayHaveFormerWriter(run, by) && (await isServiceAsKnown(run, by))) return handOverSlices(run, by);
  return ok;
}

async function tellHeld({ deps, key, brief, cluster }: Run, service: Service, why: string): Promise<void> {
  if (!writesOptIn(cluster)) return;
  deps.metrics.put('OptInHeld', 1, { cluster: key.cluster });
  await deps.events.record(brief, slicesFailureEvent(service, why));
}

const keptWithoutAnnotation = `the annotation ${annotationSelector} is gone, and there is no selector; the slices stay as they are, and an empty annotation deletes them`;

/** As the run leaves the Service. */
export function hasOptInSlices({ inputs, server }: Pick<Run, 'inputs' | 'server'>): boolean {
  const left = new Map([...inputs.outputs, ...server.records].map((output) => [nameOf(output), output]));
  return [...left.values()].some(isOursByOptIn);
}

/** Reads the slices of these managers, if the saved ones may be outdated. */
export async function lookAtSlices(run: Run, managers: readonly string[]): Promise<void> {
  if (mustReadFromApiServer(run, 'slices'))
    for (const managedBy of managers) await readCurrent({ ...run, managedBy });
}

/**
 * Managers whose slices the next run uses as they are saved. In shadow mode ingest saves those of the
 * built-in controller.
 */
const managersOf = ({ cluster }: Run): readonly string[] =>
  writesBuiltIn(cluster) ? [optInManagedBy, slicesManagedBy] : [optInManagedBy];

const writesBuiltIn = ({ mode, settings }: ClusterRecord): boolean => mode === 'active' && settings.slices;

/** Only then is the cluster asked for all slices of the Service. */
function mayHaveFormerWriter(run: Run, by: By): boolean {
  const { work, inputs, cluster, observed } = run;
  // A run that made our slices may have ended before it handed over.
  const isFirst =
    mustReadFromApiServer(run, 'slices') || isRetry(run, 'slices') || work.ranAtMs < cluster.optInSince;
  const ours = inputs.outputs.filter(isOursByOptIn);
  // Another client may have labelled slices of ours for the Service before its event arrived.
  const isNew = writesBuiltIn(cluster) && !inputs.outputs.some((o) => o.object !== undefined);
  if (by !== 'opt-in') return isFirst || ours.length > 0 || (by === 'built-in' && isNew);
  const theirs = (observed ?? inputs.outputs).some((o) => o.object !== undefined && !isOursByOptIn(o));
  // Slices of a former Service of that name do not show a hand-over to this one.
  const isSettled = ours.some(({ object }) => isOwnedBy(object as EndpointSlice, inputs.service as Service));
  return isFirst || !isSettled || theirs;
}

const cleans = ({ cluster }: Run): boolean =>
  ({ ...defaultOptInSettings, ...cluster.settings.optIn }).cleanup;

async function handOverSlices(run: Run, by: By): Promise<Outcome> {
  const { api, deps, key, inputs, server } = run;
  const { items: slices } = await api.list('EndpointSlice', key.namespace, {
    labels: { [labelServiceName]: key.name },
  });
  const endpoints = by === 'opt-in' ? await api.get('Endpoints', key.namespace, key.name) : undefined;
  // While the switch is off, nothing guards the snapshot against a wrong list.
  const live = by === 'built-in' && isOffBeside(run.cluster) ? await podsInCluster(run, 'slices') : undefined;
  const { isWaiting, leftovers, withdrawn } = handOver({
    writer: by,
    slices,
    endpoints,
    ready: servedBy(slicesOf(run, live ?? inputs.pods)),
  });
  const isFormer = by === 'opt-in' ? isBuiltInSlice : isOptInSlice;
  const there = new Set(slices.filter(isFormer).map((s) => s.metadata.name));
  // Outputs that the run itself has read and written are skipped. If another client has deleted one since,
  // its event shows that.
  for (const { kind, name, object } of inputs.outputs) {
    if (!object) continue;
    const isGone =
      kind === 'Endpoints'
        ? by === 'opt-in' && !endpoints
        : isFormer(object as EndpointSlice) && !there.has(name);
    if (!isGone) continue;
    server.recordMissing(kind, object);
    server.needsLeaseCheck = true;
  }
  if (isWaiting) return waitForNextWriter(run, by);
  const gone = [...leftovers.slices, ...withdrawn];
  if (gone.length > 0 && by !== 'none' && (await isDoubtful(run, slices)))
    return doubt(run, 'snapshot differs from the cluster');
  // A mirror goes with its Endpoints.
  const stay = slices.filter((s) => !gone.includes(s) && !(leftovers.endpoints && isMirroredSlice(s)));
  if (by === 'opt-in' && (await showsPodsToCome(run, gone, stay)))
    return doubt(run, 'a pod of the built-in slices is not known yet');
  const refused = await deleteFormer(run, leftovers.endpoints, gone);
  if (refused) return refused;
  if (gone.length > 0) {
    deps.log.info('service handed over', {
      ...key,
      to: by,
      withdrawn: withdrawn.length,
      leftovers: leftovers.slices.length,
    });
    if (inputs.service && by !== 'none' && writesOptIn(run.cluster))
      await deps.events.record(run.brief, handedOverEvent(inputs.service, by === 'opt-in'));
  }
  await forgetPreview(run, by);
  // Shadow mode compares from now on, in a run without writes of ours.
  if (withdrawn.length > 0 && run.cluster.mode === 'shadow')
    return requeue(run.deps, 'unconfirmed', { reason: comparedLater.afterHandOver });
  return ok;
}

/** Resolves to the outcome of a deletion that was refused. */
async function deleteFormer(
  run: Run,
  endpoints: Endpoints | undefined,
  gone: readonly EndpointSlice[],
): Promise<Outcome | undefined> {
  const { namespace, name } = run.key;
  try {
    if (endpoints) await deleteOutput(run, 'Endpoints', endpoints);
    for (const slice of gone) await deleteOutput(run, 'EndpointSlice', slice);
    return undefined;
  } catch (error) {
    if (isRefusedWhileOff(run.cluster, error) || !(error instanceof ClusterApiError)) throw error;
    if (isConflict(error))
      return requeue(run.deps, 'soon', { reason: 'another client writes what is to be handed over' });
    return (
      (await faultOf(run, error, 'write')) ?? {
        kind: 'failed',
        error: `hand-over of ${namespace}/${name}: ${error.message}`,
      }
    );
  }
}

/**
 * Returns false if the Service has just gone. Throws RequeueAfter if it has another writer or selector in the
 * cluster.
 */
async function isServiceAsKnown(run: Run, by: By): Promise<boolean> {
  const { api, key, inputs, cluster } = run;
  const live = await api.get('Service', key.namespace, key.name);
  if (!live) return false;
  const isSame =
    writerFor(live, cluster, 'slices').by === by &&
    sameSelectors(withOptInSelectorFor(live, cluster).spec?.selector, inputs.service?.spec?.selector);
  return isSame || requeueInDoubt(run, 'the Service is another one in the cluster');
}

const doubt = (run: Run, reason: string): Outcome => requeue(run.deps, 'endpointsKept', { reason });

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
async function waitForNextWriter({ deps, key, inputs, brief, cluster }: Run, by: By): Promise<Outcome> {
  const known = await readDifference(deps.table, key);
  const isKnown = known?.text === waitingText;
  if (!isKnown)
    await saveDifference(deps.table, key, { text: waitingText, sinceMs: deps.now(), confirmed: false });
  const seconds = isKnown ? (deps.now() - known.sinceMs) / 1000 : 0;
  if (seconds >= waitToldSeconds && inputs.service) {
    deps.metrics.put('HandOversWaiting', 1, { cluster: key.cluster });
    if (writesOptIn(cluster))
      await deps.events.record(brief, handOverWaitsEvent(inputs.service, by === 'opt-in'));
  }
  // Each wait is twice as long as the one before.
  return requeue(deps, 'soon', { reason: waitingForOthers, rounds: Math.floor(Math.log2(seconds + 1)) });
}

/** kube-controller-manager starts, lists and writes within this time. */
const waitToldSeconds = 30;

/** Deletes the note of the wait, or the preview: the hand-over is done. */
async function forgetPreview({ deps, key }: Run, by: By): Promise<void> {
  const known = await readDifference(deps.table, key);
  if (known && (isHandOverNote(known.text) || by === 'opt-in'))
    await saveDifference(deps.table, key, undefined);
}
