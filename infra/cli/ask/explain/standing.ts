/** Gives the state of a Service's endpoints as a sentence and as a code. */

import { hasRuns } from '#shared/clusters/writer/mode.ts';
import { writersFor } from '#shared/clusters/writer/writer-for.ts';
import { isHandOverNote, isOptInSlice, waitingText } from '#shared/controllers/opt-in/hand-over.ts';
import { writerOf } from '#shared/controllers/opt-in/writer.ts';
import { controllers } from '#shared/kube/controllers.ts';
import { optInManagedBy } from '#shared/kube/names.ts';
import { isClean, partState } from '#shared/workqueue/rules/item.ts';
import type { PodExplanation, ServiceState } from './explanation.ts';
import { timeText } from './facts.ts';
import type { ExplainInput } from './input.ts';
import { derivedFromImport, derivedText } from './writer-facts.ts';

/** The state of a Service's endpoints, for programs. docs/commands.md lists them. */
export interface ServiceStatus {
  readonly state: ServiceState;
  /** A sentence. */
  readonly text: string;
  /** Pods that the selector matches, and those that are ready in Endpoints or slices. */
  readonly selected: number;
  readonly ready: number;
}

/** Returns true if a pod is ready in Endpoints or in a slice. */
export const isReady = ({ endpoints, slices }: PodExplanation): boolean =>
  endpoints.place === 'addresses' || slices.some((s) => s.place === 'ready');

export function standingOf(input: ExplainInput, pods: readonly PodExplanation[]): ServiceStatus {
  const { service } = input;
  const selected = pods.filter((p) => p.relation === 'selected');
  const ready = selected.filter(isReady).length;
  const as = (state: ServiceState, text: string): ServiceStatus => ({
    state,
    text,
    selected: selected.length,
    ready,
  });
  if (!service)
    return as(
      'ServiceDeleted',
      `The service does not exist${pods.length > 0 ? '; the next run deletes its remaining endpoints' : ''}.`,
    );
  const writer = writerOf(service);
  if (service.spec?.type === 'ExternalName')
    return as('ExternalName', 'An ExternalName service: it has no endpoints.');
  if (writer.by === 'invalid-annotation')
    return as('InvalidAnnotation', `Its slices stay as they are: ${writer.reason}.`);
  const derivedFrom = derivedFromImport(service);
  if (derivedFrom !== undefined)
    return as('DerivedFromImport', `${capital(derivedText(service, derivedFrom))}.`);
  if (writer.by === 'no-annotation' && input.saved.slices.some(isOptInSlice))
    return as(
      'NoWriter',
      'The annotation is gone, and there is no selector: the slices that the hub made by it stay as they are.',
    );
  if (writer.by === 'none' || writer.by === 'no-annotation') {
    const annotation = writer.by === 'none' ? 'an empty annotation' : 'no annotation';
    return as(
      'NoSelector',
      `No selector and ${annotation}: its endpoints are made by hand or by another controller.`,
    );
  }
  const count =
    selected.length === 0
      ? 'It selects no pod'
      : `${ready} of ${selected.length} selected pods ${ready === 1 ? 'is' : 'are'} ready to be reached`;
  const { state, text } = progressOf(input);
  return as(state, `${count}; ${text}.`);
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const handOverText = (isToHub: boolean): string =>
  isToHub
    ? 'the slices of the built-in controllers stay until those of the hub serve every ready address'
    : 'its slices stay until those of the built-in controllers serve every ready address';

const refusedHandOver =
  'slices of the opt-in are there too, and may list pods that are gone: the API server does not let the hub delete them';

function progressOf({
  service,
  work,
  cluster,
  difference,
  conflict,
  now,
}: ExplainInput): Pick<ServiceStatus, 'state' | 'text'> {
  const { endpoints, slices } = writersFor(service, cluster);
  if (difference && isHandOverNote(difference.text) && hasRuns(cluster)) {
    const text =
      difference.text === waitingText ? handOverText(slices.as === optInManagedBy) : refusedHandOver;
    return { state: 'HandOver', text };
  }
  const tasks = [endpoints.task, slices.task];
  if (!tasks.includes('write') && tasks.includes('compare')) {
    if (!difference)
      return isClean(work)
        ? { state: 'Same', text: 'the cluster’s own controllers wrote the same' }
        : { state: 'Comparing', text: 'a comparison is under way' };
    return difference.confirmed
      ? { state: 'Different', text: 'the cluster’s own controllers wrote something different' }
      : { state: 'Comparing', text: 'a difference is not confirmed yet' };
  }
  if (!tasks.includes('write'))
    return {
      state: slices.who === 'nobody' ? 'NoWriter' : 'NotWritten',
      text: `nothing is written: ${slices.why}`,
    };
  if (conflict) {
    const text = `it is not written until ${timeText(conflict.untilMs, now)}: ${conflict.manager} keeps writing its objects`;
    return { state: 'WriterConflict', text };
  }
  if (isClean(work)) return { state: 'Written', text: 'everything is written' };
  if (cluster.circuit)
    return {
      state: 'CircuitOpen',
      text: `a run is pending, but the circuit of the cluster is open (${cluster.circuit.reason})`,
    };
  const failing = Math.max(...controllers.map((c) => partState(work, c).failures));
  if (failing > 0)
    return {
      state: 'Failing',
      text: `a run is pending after ${failing} failed ${failing === 1 ? 'try' : 'tries'}`,
    };
  return {
    state: 'Pending',
    text: work.lease && work.lease.untilMs > now ? 'a run is under way' : 'a run is pending',
  };
}
