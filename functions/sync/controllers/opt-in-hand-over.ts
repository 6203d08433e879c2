/**
 * The slices of a Service in a cluster where Services may opt in (docs/use/opt-in.md): first what its writer has
 * to write, then the hand-over from the former writer. The run reads the Service from the cluster before it
 * deletes anything.
 */
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { writesOptIn } from '#shared/clusters/writer/mode.ts';
import { writerFor } from '#shared/clusters/writer/writer-for.ts';
import type { HandOverInput } from '#shared/controllers/opt-in/hand-over.ts';
import { withOptInSelectorFor } from '#shared/controllers/opt-in/writer.ts';
import { slicesFailureEvent } from '#shared/controllers/slices/outcome.ts';
import { isOwnedBy } from '#shared/controllers/slices/planned-slice.ts';
import { annotationSelector, optInManagedBy, slicesManagedBy } from '#shared/kube/names.ts';
import { sameSelectors } from '#shared/kube/selectors/label-selector.ts';
import type { EndpointSlice, Service } from '#shared/kube/types.ts';
import type { OutputRecord } from '#shared/store/outputs/outputs.ts';
import { saveDifference } from '#shared/store/outputs/shadow-record.ts';
import { type Outcome, ok } from '#shared/workqueue/rules/outcome.ts';
import type { Claim } from '#shared/workqueue/take.ts';
import { type Inputs, isOursByOptIn } from '../state/inputs.ts';
import { isRetry, mustReadFromApiServer, type Run } from '../state/run.ts';
import { nameOf } from '../state/server-state.ts';
import { forgetPreview, handOverSlices } from './former-writer.ts';
import { readCurrent, runSlices } from './slices-controller.ts';
import { requeueInDoubt } from './verified-pods.ts';

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
  const { by, why } = writers.slices;
  if (!service) {
    await saveDifference(run.deps.table, run.key, undefined);
    return runSlices(run);
  }
  if (by === 'invalid-annotation' || by === 'no-annotation') {
    await lookAtSlices(run, managersOf(run));
    if (by === 'invalid-annotation') await reportHeld(run, service, why);
    else if (hasOptInSlices(run)) await reportHeld(run, service, keptWithoutAnnotation);
    return ok;
  }
  const written = await writeAndLook(run);
  return written.kind === 'ok' ? handOverIfDue(run, by) : written;
}

async function handOverIfDue(run: Run, by: By): Promise<Outcome> {
  if (keepsLeftovers(run, by)) {
    if (isFirstRun(run) || !isSettled(run)) await forgetPreview(run, by);
    return ok;
  }
  const isDue = mayHaveFormerWriter(run, by) && (await isServiceAsKnown(run, by));
  return isDue ? handOverSlices({ run, by }) : ok;
}

async function writeAndLook(run: Run): Promise<Outcome> {
  const writes = run.inputs.writers.slices.task === 'write';
  const written = writes ? await runSlices(run) : ok;
  const others = managersOf(run).filter((manager) => !writes || manager !== run.managedBy);
  if (written.kind === 'ok') await lookAtSlices(run, others);
  return written;
}

/** Without cleanup the leftovers of the built-in controllers stay. */
const keepsLeftovers = ({ cluster }: Run, by: By): boolean =>
  by === 'opt-in' && !(cluster.settings.optInCleanup && writesOptIn(cluster));

async function reportHeld({ deps, key, brief, cluster }: Run, service: Service, why: string): Promise<void> {
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

const writesBuiltIn = ({ mode, settings }: ClusterRecord): boolean =>
  mode === 'active' && settings.controllers.includes('slices');

/**
 * Returns true if slices of a former writer may be left. Without that the run need not list all slices of the
 * Service.
 */
function mayHaveFormerWriter(run: Run, by: By): boolean {
  const { inputs, cluster, observed } = run;
  // Another client may have labelled slices of ours for the Service before its event arrived.
  const isNew = writesBuiltIn(cluster) && !inputs.outputs.some((o) => o.object !== undefined);
  if (by !== 'opt-in')
    return isFirstRun(run) || inputs.outputs.some(isOursByOptIn) || (by === 'built-in' && isNew);
  const theirs = (observed ?? inputs.outputs).some((o) => o.object !== undefined && !isOursByOptIn(o));
  return isFirstRun(run) || !isSettled(run) || theirs;
}

/** A run that made our slices may have ended before it handed over. */
const isFirstRun = (run: Run): boolean =>
  mustReadFromApiServer(run, 'slices') || isRetry(run, 'slices') || run.work.ranAtMs < run.cluster.optInSince;

/** Slices of a former Service of that name do not show a hand-over to this one. */
const isSettled = ({ inputs }: Run): boolean =>
  inputs.outputs
    .filter(isOursByOptIn)
    .some(({ object }) => isOwnedBy(object as EndpointSlice, inputs.service as Service));

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
