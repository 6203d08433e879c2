/** The pods that concern a Service, each with its wanted place and the difference from what is served. */

import { nearMiss } from '#infra/cli/ask/answer/near-misses.ts';
import type { WriterFor } from '#shared/clusters/writer/writer-for.ts';
import { decideEndpoints } from '#shared/controllers/endpoints/decide.ts';
import { isOptInSlice } from '#shared/controllers/opt-in/hand-over.ts';
import { withOptInSelector, writerOf } from '#shared/controllers/opt-in/writer.ts';
import {
  absent,
  endpointsVerdict,
  selectorOf,
  verdictsOf,
} from '#shared/controllers/verdicts/pod-verdicts.ts';
import type { EndpointsPlace, PodVerdict, SlicePlace } from '#shared/controllers/verdicts/verdict.ts';
import { type Controller, outputKindOf } from '#shared/kube/controllers.ts';
import type { Labels } from '#shared/kube/labels.ts';
import { annotationOverCapacity } from '#shared/kube/names.ts';
import {
  isNegative,
  isSetBased,
  requirementMatches,
  requirementsOf,
  type Selector,
  selectorMatches,
} from '#shared/kube/selectors/label-selector.ts';
import type { Service } from '#shared/kube/types.ts';
import type { PodExplanation } from './explanation.ts';
import type { ExplainInput, KnownPod } from './input.ts';
import { endpointsPlaces, slicePlaces } from './saved.ts';

export interface PodsInput
  extends Pick<ExplainInput, 'service' | 'namespace' | 'name' | 'pods' | 'nodes' | 'saved' | 'asked'> {
  readonly writers: { readonly [C in Controller]: Pick<WriterFor, 'task'> };
  /** Why pods are left out while their zone is away, by name. */
  readonly away?: ReadonlyMap<string, string> | undefined;
}

/** Returns every pod that the service selects, nearly selects, formerly selected or still lists. */
export function explainPods(given: PodsInput, reachable: ReadonlySet<string>): readonly PodExplanation[] {
  // A Service that opts in is explained by its annotation even if the cluster's switch is off: these would be
  // its addresses.
  const optsIn = given.service !== undefined && writerOf(given.service).by === 'opt-in';
  const input = {
    ...given,
    optsIn,
    service: given.service && withOptInSelector(given.service, 'active'),
  };
  const { service, saved, asked } = input;
  const selector = selectorOf(service);
  // During a hand-over the slices of both writers exist.
  const slices = saved.slices.filter((slice) => !selector || isOptInSlice(slice) === input.optsIn);
  const world = {
    ...input,
    reachable,
    inEndpoints: endpointsPlaces(saved.endpoints),
    inSlices: slicePlaces(slices),
  };
  const listed = new Set([
    ...world.inEndpoints.keys(),
    ...[...world.inSlices.values()].flatMap((places) => [...places.keys()]),
  ]);
  const capacity = service && selector ? capacityOf(input, service, selector) : undefined;
  const near = nearOf(input, selector);
  const explained = new Map<string, PodExplanation>();
  for (const known of input.pods) {
    const relation =
      relationOf(known, selector, listed, near) ?? (known.pod && known.name === asked ? 'near' : undefined);
    if (relation) explained.set(known.name, explainPod(world, known, relation, capacity));
  }
  for (const name of listed) {
    if (!explained.has(name))
      explained.set(name, explainPod(world, { name, pod: undefined, formerLabels: [] }, 'left', undefined));
  }
  return [...explained.values()].sort(
    (a, b) => order[a.relation] - order[b.relation] || (a.pod < b.pod ? -1 : 1),
  );
}

/** The input with the pods' places in the written outputs. */
interface World extends PodsInput {
  readonly optsIn: boolean;
  readonly inEndpoints: ReadonlyMap<string, EndpointsPlace>;
  readonly inSlices: ReadonlyMap<string, ReadonlyMap<string, SlicePlace>>;
  readonly reachable: ReadonlySet<string>;
}

const order = { selected: 0, left: 1, near: 2 } as const;

function relationOf(
  { name, pod, formerLabels }: KnownPod,
  selector: Selector | undefined,
  listed: ReadonlySet<string>,
  near: ReadonlySet<string>,
): PodExplanation['relation'] | undefined {
  if (pod && selectorMatches(selector, pod.metadata.labels)) return 'selected';
  if (listed.has(name) || formerLabels.some((labels) => selectorMatches(selector, labels))) return 'left';
  return pod && near.has(name) ? 'near' : undefined;
}

function explainPod(
  world: World,
  known: KnownPod,
  relation: PodExplanation['relation'],
  capacity: Capacity | undefined,
): PodExplanation {
  const { service, nodes, writers, saved, optsIn, inEndpoints, inSlices, away } = world;
  const { name } = known;
  const { endpoints, slices } = verdictsOf(service, { ...known, away: away?.get(name) }, nodes);
  const isOverCapacity = endpoints.place !== 'absent' && capacity !== undefined && !capacity.places.has(name);
  const inFull =
    relation === 'selected' && optsIn
      ? noEndpoints
      : isOverCapacity
        ? absent('OverCapacity', capacity.why)
        : endpoints;
  // If an output is saved without its content, the places of its addresses are unknown.
  const place = <P extends string>(
    verdict: PodVerdict<P>,
    at: P | undefined,
    controller: Controller,
  ): PodVerdict<P> =>
    isKnown(saved, controller, writers[controller].task)
      ? withPending(verdict, at, writers[controller].task)
      : verdict;
  return {
    ...{ pod: name, relation, reachable: world.reachable.has(name) },
    endpoints: place<EndpointsPlace>(inFull, inEndpoints.get(name), 'endpoints'),
    slices: slices.map(({ family, ...verdict }) => ({
      family,
      ...place<SlicePlace>(verdict, inSlices.get(family)?.get(name), 'slices'),
    })),
  };
}

/** Is the content of the controller's outputs known? Without a task, those of before are, if there are any. */
function isKnown(saved: PodsInput['saved'], controller: Controller, task: WriterFor['task']): boolean {
  if (saved.withoutContent?.includes(outputKindOf[controller])) return false;
  if (task === 'write' || task === 'compare') return true;
  return (
    task === 'none' && (controller === 'slices' ? saved.slices.length > 0 : saved.endpoints !== undefined)
  );
}

const noEndpoints = absent('OptIn', 'a Service that opts in gets no Endpoints');

interface Capacity {
  /** The listed pods of Endpoints that are cut to their capacity. */
  readonly places: ReadonlyMap<string, EndpointsPlace>;
  readonly why: string;
}

/** Returns undefined if all addresses fit. */
function capacityOf(
  { namespace, name, pods, away }: PodsInput,
  service: Service,
  selector: Selector,
): Capacity | undefined {
  const selected = pods.flatMap(({ pod }) =>
    pod && !away?.has(pod.metadata.name) && selectorMatches(selector, pod.metadata.labels) ? [pod] : [],
  );
  const { write } = decideEndpoints({
    namespace,
    name,
    service,
    pods: selected,
    current: undefined,
    triggerTimes: undefined,
  });
  if (write?.verb !== 'create' || write.object.metadata.annotations?.[annotationOverCapacity] === undefined)
    return undefined;
  const places = endpointsPlaces(write.object);
  const wanted = selected.filter((pod) => endpointsVerdict(pod, service).place !== 'absent').length;
  return {
    places,
    why: `over capacity: Endpoints list ${places.size.toLocaleString('en')} of ${wanted.toLocaleString('en')}, ready ones first`,
  };
}

function withPending<P extends string>(
  verdict: PodVerdict<P>,
  saved: P | undefined,
  task: WriterFor['task'],
): PodVerdict<P> {
  const is = saved ?? 'absent';
  if (is === verdict.place) return verdict;
  const pending = is === 'absent' ? 'not listed' : `listed (${is})`;
  return {
    ...verdict,
    pending:
      task === 'compare'
        ? `${pending} by the cluster’s own controller`
        : `as saved it is ${is === 'absent' ? 'not listed yet' : `still ${pending}`}`,
  };
}

/** Pods that have a pair of the selector, or nearly have its only one, so they may be intended to match. */
function nearOf({ pods }: PodsInput, selector: Selector | undefined): ReadonlySet<string> {
  if (!selector) return new Set();
  const known = pods.flatMap(({ name, pod }) => (pod ? [{ name, labels: pod.metadata.labels ?? {} }] : []));
  const isNear = ({ labels }: { readonly labels: Labels }): boolean =>
    requirementsOf(selector).some(
      (of) => labels[of.key] !== undefined && !isNegative(of) && requirementMatches(of, labels),
    );
  const selected = known.some(({ labels }) => selectorMatches(selector, labels));
  return new Set(
    [
      ...known.filter(isNear),
      ...(selected || isSetBased(selector) ? [] : (nearMiss(selector, known)?.of ?? [])),
    ].map((p) => p.name),
  );
}
