/**
 * The EndpointSlice controller's part of a run: decide, then write each address type in upstream's order
 * (ES-55).
 */
import {
  ClusterApiError,
  isConflict,
  isNamespaceTerminating,
  isNotFound,
} from '#shared/clusters/api/errors.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { decideSlices } from '#shared/controllers/slices/decide.ts';
import {
  joinErrors,
  slicesFailureEvent,
  summarizeErrors,
  writeFailure,
} from '#shared/controllers/slices/outcome.ts';
import type { AddressTypePlan, SliceDraft, SlicesPlan } from '#shared/controllers/slices/plan.ts';
import { isOwnedBy } from '#shared/controllers/slices/planned-slice.ts';
import { slicesAfter } from '#shared/controllers/slices/slices-after.ts';
import type { TriggerTimes } from '#shared/controllers/triggertime/tracker.ts';
import { lastContentWrite } from '#shared/kube/field-managers.ts';
import { labelServiceName, labelSliceManagedBy, slicesManagedBy } from '#shared/kube/names.ts';
import type { EndpointSlice } from '#shared/kube/types.ts';
import type { OutputRecord } from '#shared/store/outputs/outputs.ts';
import { type Outcome, RequeueAfter } from '#shared/workqueue/rules/outcome.ts';
import { faultOf } from '../admission/failure-outcome.ts';
import { noteIfForeign } from '../guards/foreign-writes.ts';
import { type Inputs, slicesIn } from '../state/inputs.ts';
import { mustReadFromApiServer, type Run } from '../state/run.ts';
import { createSlice } from '../writes/conditional-writes.ts';
import { deleteOutput, planAndWrite, type Written } from './plan-and-write.ts';
import {
  gaugesAfter,
  observeChange,
  observeFinalize,
  observeReconcile,
  observeSync,
} from './sync-metrics.ts';

export async function runSlices(run: Run): Promise<Outcome> {
  const { inputs, cluster } = run;
  // Slices of a service that is gone are the garbage collector's (ES-2): what is saved of them is forgotten.
  if (!inputs.service && inputs.outputs.some((o) => o.kind === 'EndpointSlice'))
    run.server.needsLeaseCheck = true;
  const isSaved =
    inputs.outputs.some((o) => isKnownSlice(run, o)) &&
    !inputs.outputs.some((o) => o.kind === 'EndpointSlice' && o.isMetadataOnly);
  const readFromApiServer = inputs.service && (mustReadFromApiServer(run, 'slices') || !isSaved);
  let slices = readFromApiServer ? await readCurrent(run) : slicesIn(inputs.outputs).filter(isOurs(run));
  return planAndWrite<SlicesPlan>(run, {
    controller: 'slices',
    planWith: (pods) => planSlices(cluster, { ...inputs, pods }, slices, inputs.triggers.triggers.slices),
    podsNow: () => podsIn(slices),
    podsLeft: (plan) => podsIn(slicesAfter(slices, plan)),
    track: (plan) => {
      run.nextTrackers.triggers = { ...run.nextTrackers.triggers, slices: plan.triggerTimes };
      run.nextTrackers.hints = plan.hints;
      run.nextTrackers.gauges = gaugesAfter(run, plan);
    },
    write: (plan) => write(run, plan, slices),
    readAgain: async () => {
      observeSync(run, { kind: 'stale' });
      slices = await readCurrent(run);
    },
  });
}

/** `slices` are those that the Service's present writer manages. */
export function planSlices(
  cluster: ClusterRecord,
  inputs: Inputs,
  slices: readonly EndpointSlice[],
  triggerTimes?: TriggerTimes,
): SlicesPlan {
  const { maxEndpointsPerSlice } = cluster.settings;
  return decideSlices({
    ...inputs,
    slices,
    triggerTimes,
    maxEndpointsPerSlice,
    managedBy: inputs.writers.slices.managedBy,
  });
}

async function write(run: Run, plan: SlicesPlan, slices: readonly EndpointSlice[]): Promise<Written> {
  observeReconcile(run, plan);
  const errors = await writeAll(run, plan, slices);
  const messages = [...errors.map((e) => e.message), ...plan.addressTypes.flatMap((t) => t.errors)];
  const recordEvents = async (): Promise<void> => {
    for (const t of plan.addressTypes)
      for (const event of t.events) await run.deps.events.record(run.brief, event);
  };
  const fail = async (): Promise<Outcome> => {
    await recordEvents();
    return failure(run, messages, errors);
  };
  if (errors.some((e) => isConflict(e.cause) || (isNotFound(e.cause) && e.verb !== 'create')))
    return { kind: 'stale', failure: fail };
  if (messages.length > 0) return { kind: 'failed', failure: fail };
  await recordEvents();
  return { kind: 'done' };
}

interface WriteError {
  readonly verb: 'create' | 'update' | 'delete';
  readonly message: string;
  readonly cause: unknown;
}

/**
 * The first failing call ends its address type, not the others; slices of unsupported types come last, each
 * on its own (ES-14, ES-15).
 */
async function writeAll(
  run: Run,
  plan: SlicesPlan,
  slices: readonly EndpointSlice[],
): Promise<readonly WriteError[]> {
  const errors: WriteError[] = [];
  const taken = new Set(slices.map((s) => s.metadata.name));
  try {
    for (const t of plan.addressTypes) {
      const error = await writeAddressType(run, plan, t, taken);
      if (error) errors.push(error);
    }
    for (const slice of plan.unsupported) {
      const error = await attempt('delete', remove(run, slice), (m) =>
        writeFailure.deleteUnsupported(service(run), slice.metadata.name, m),
      );
      if (error) errors.push(error);
    }
  } catch (error) {
    // No time for the rest: a failure that took it all must not be forgotten, or it would never count.
    if (!(error instanceof RequeueAfter) || errors.length === 0) throw error;
  }
  return errors;
}

async function writeAddressType(
  run: Run,
  whole: SlicesPlan,
  plan: AddressTypePlan,
  taken: Set<string>,
): Promise<WriteError | undefined> {
  const calls = [
    ...plan.create.map(
      (draft) => () =>
        attempt('create', create(run, draft, taken), (m) => writeFailure.create(service(run), m)),
    ),
    ...plan.update.map(
      (slice) => () =>
        attempt('update', update(run, slice), (m) =>
          writeFailure.update(service(run), slice.metadata.name, m),
        ),
    ),
    ...plan.delete.map(
      (slice) => () =>
        attempt('delete', remove(run, slice), (m) =>
          writeFailure.delete(service(run), slice.metadata.name, m),
        ),
    ),
  ];
  for (const call of calls) {
    const error = await call();
    // A terminating namespace accepts no new objects and deletes the present ones (ES-61).
    if (error?.verb === 'create' && isNamespaceTerminating(error.cause)) return undefined;
    if (error) return error;
  }
  observeFinalize(run, whole, plan);
  return undefined;
}

async function attempt(
  verb: WriteError['verb'],
  call: Promise<void>,
  text: (message: string) => string,
): Promise<WriteError | undefined> {
  try {
    await call;
    return undefined;
  } catch (cause) {
    if (!(cause instanceof ClusterApiError)) throw cause;
    return { verb, message: text(cause.message), cause };
  }
}

async function create(run: Run, draft: SliceDraft, taken: Set<string>): Promise<void> {
  const { api, key } = run;
  const owner = service(run).metadata.uid ?? '';
  const isAdoptable = (other: EndpointSlice): boolean =>
    other.addressType === draft.addressType &&
    isOurs(run)(other) &&
    !other.metadata.deletionTimestamp &&
    isOwnedBy(other, service(run));
  const { slice, verb } = await createSlice(api, {
    namespace: key.namespace,
    draft,
    owner,
    taken,
    isAdoptable,
  });
  noteWritten(run, slice, verb);
}

async function update(run: Run, slice: EndpointSlice): Promise<void> {
  noteWritten(run, await run.api.replace('EndpointSlice', slice), 'update');
}

function noteWritten(run: Run, slice: EndpointSlice, verb: 'create' | 'update'): void {
  run.server.recordPresent('EndpointSlice', slice);
  run.server.countWrite('EndpointSlice');
  observeChange(run, verb);
}

async function remove(run: Run, slice: EndpointSlice): Promise<void> {
  await deleteOutput(run, 'EndpointSlice', slice);
  observeChange(run, 'delete');
}

/** The slices of the run's manager as the API server holds them, which are saved then. */
export async function readCurrent(run: Run): Promise<readonly EndpointSlice[]> {
  const { items, resourceVersion } = await run.api.list('EndpointSlice', run.key.namespace, {
    labels: { [labelServiceName]: run.key.name, [labelSliceManagedBy]: run.managedBy },
  });
  run.server.needsLeaseCheck = true;
  const names = new Set(items.map((s) => s.metadata.name));
  for (const slice of items) {
    noteIfForeign(run, 'EndpointSlice', slice);
    run.server.recordFound('EndpointSlice', slice, lastContentWrite(slice)?.manager);
  }
  for (const saved of slicesIn(run.inputs.outputs).filter(isOurs(run)))
    if (!names.has(saved.metadata.name)) run.server.recordMissing('EndpointSlice', saved, resourceVersion);
  return items;
}

async function failure(
  run: Run,
  messages: readonly string[],
  errors: readonly WriteError[],
): Promise<Outcome> {
  const calls = errors.map((e) => e.cause).filter((e) => e instanceof ClusterApiError);
  const fault = calls[0] && (await faultOf(run, calls[0], 'write'));
  if (fault) return fault;
  await run.deps.events.record(run.brief, slicesFailureEvent(service(run), joinErrors(messages)));
  return { kind: 'failed', error: summarizeErrors(messages) };
}

const service = (run: Run) => run.inputs.service as NonNullable<Run['inputs']['service']>;

const isOurs =
  ({ key, managedBy }: Run) =>
  (slice: EndpointSlice): boolean =>
    slice.metadata.labels?.[labelServiceName] === key.name &&
    slice.metadata.labels?.[labelSliceManagedBy] === managedBy;

/**
 * A saved deletion counts as knowledge of this writer's slices. A slice of the Service's other writer does
 * not.
 */
const isKnownSlice = (run: Run, { kind, object }: OutputRecord): boolean =>
  kind === 'EndpointSlice' &&
  (object
    ? object.metadata.labels?.[labelSliceManagedBy] === run.managedBy
    : run.managedBy === slicesManagedBy);

/** By family and uid, one for each endpoint. */
export const podsIn = (
  slices: readonly Pick<EndpointSlice, 'addressType' | 'endpoints'>[],
): readonly string[] =>
  slices.flatMap((s) => (s.endpoints ?? []).map((e) => `${s.addressType} ${e.targetRef?.uid ?? ''}`));
