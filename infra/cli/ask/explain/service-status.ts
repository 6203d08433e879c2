/** Gives the state of a Service's endpoints as a sentence and as a code. */

import { hasRuns } from '#shared/clusters/writer/mode.ts';
import { writersFor } from '#shared/clusters/writer/writer-for.ts';
import { isHandOverNote, isOptInSlice, waitingText } from '#shared/controllers/opt-in/hand-over.ts';
import { writerOf } from '#shared/controllers/opt-in/writer.ts';
import { controllers } from '#shared/kube/controllers.ts';
import { optInManagedBy } from '#shared/kube/names.ts';
import { isClean, partState } from '#shared/workqueue/rules/item.ts';
import { missingLists } from './cluster-known.ts';
import type { ServiceState } from './explanation.ts';
import { timeText } from './facts.ts';
import type { ExplainInput } from './input.ts';
import { derivedFromImport, derivedText } from './writer-facts.ts';

/** The state of the hub's work for a Service: a code for programs, and a clause. */
export interface Standing {
  readonly state: ServiceState;
  readonly text: string;
  /** The outputs are about to change. */
  readonly isUnderWay?: boolean;
}

export function statusOf(input: ExplainInput): Standing {
  const { service } = input;
  if (!service) return { state: 'ServiceDeleted', text: 'the next run deletes what is left of it' };
  const writer = writerOf(service);
  if (service.spec?.type === 'ExternalName') return { state: 'ExternalName', text: '' };
  if (writer.by === 'invalid-annotation')
    return { state: 'InvalidAnnotation', text: `its slices stay as they are: ${writer.reason}` };
  const derivedFrom = derivedFromImport(service);
  if (derivedFrom !== undefined)
    return { state: 'DerivedFromImport', text: derivedText(service, derivedFrom) };
  if (writer.by === 'no-annotation' && input.saved.slices.some(isOptInSlice))
    return {
      state: 'NoWriter',
      text: 'the annotation is gone, and there is no selector: the slices that the hub made by it stay as they are',
    };
  if (writer.by === 'none' || writer.by === 'no-annotation')
    return {
      state: 'NoSelector',
      text: `no selector and ${writer.by === 'none' ? 'an empty annotation' : 'no annotation'}: its endpoints are made by hand or by another controller`,
    };
  return progressOf(input);
}

const handOverText = (isToHub: boolean): string =>
  isToHub
    ? 'the slices of the built-in controllers stay until those of the hub serve every ready address'
    : 'its slices stay until those of the built-in controllers serve every ready address';

const refusedHandOver =
  'slices of the opt-in are there too, and may list pods that are gone: the API server does not let the hub delete them';

function progressOf(input: ExplainInput): Standing {
  const { service, cluster, difference, conflict, now } = input;
  const { endpoints, slices } = writersFor(service, cluster);
  if (difference && isHandOverNote(difference.text) && hasRuns(cluster)) {
    const text =
      difference.text === waitingText ? handOverText(slices.managedBy === optInManagedBy) : refusedHandOver;
    return { state: 'HandOver', text, isUnderWay: true };
  }
  const tasks = [endpoints.task, slices.task];
  if (!tasks.includes('write') && tasks.includes('compare')) return comparisonOf(input);
  if (!tasks.includes('write'))
    return {
      state: slices.writer === 'nobody' ? 'NoWriter' : 'NotWritten',
      text: `nothing is written: ${slices.why}`,
    };
  if (conflict) {
    const text = `it is not written until ${timeText(conflict.untilMs, now)}: ${conflict.manager} keeps writing its objects`;
    return { state: 'WriterConflict', text };
  }
  return writingOf(input);
}

/** Of a Service that the hub compares with what the cluster's own controllers wrote. */
function comparisonOf({ cluster, difference, work }: ExplainInput): Standing {
  const missing = missingLists(cluster);
  if (missing !== undefined) return { state: 'Comparing', text: missing, isUnderWay: true };
  if (!difference)
    return isClean(work)
      ? { state: 'Same', text: 'the cluster’s own controllers wrote the same' }
      : { state: 'Comparing', text: 'a comparison is under way', isUnderWay: true };
  return difference.confirmed
    ? { state: 'Different', text: 'the cluster’s own controllers wrote something different' }
    : { state: 'Comparing', text: 'a difference is not confirmed yet', isUnderWay: true };
}

/** Of a Service that the hub writes. */
function writingOf({ work, cluster, now, lastEnding }: ExplainInput): Standing {
  const missing = missingLists(cluster);
  if (missing !== undefined) return { state: 'Pending', text: missing };
  if (isClean(work))
    return lastEnding
      ? {
          state: 'GivenUp',
          text: `the last run ${lastEnding.kind} and was given up until the next change or the resync: ${lastEnding.text}`,
        }
      : { state: 'Written', text: 'everything is written' };
  if (cluster.circuit)
    return {
      state: 'CircuitOpen',
      text: `a run is pending, but the circuit of the cluster is open (${cluster.circuit.reason})`,
    };
  const failing = Math.max(...controllers.map((c) => partState(work, c).failures));
  if (failing > 0)
    return {
      state: 'Failing',
      text: `a run is pending after ${failing} failed ${failing === 1 ? 'try' : 'tries'}${lastEnding ? `: ${lastEnding.text}` : ''}`,
    };
  return {
    state: 'Pending',
    text: work.lease && work.lease.untilMs > now ? 'a run is under way' : 'a run is pending',
    isUnderWay: true,
  };
}
