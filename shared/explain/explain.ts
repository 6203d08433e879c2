/** Explains from the snapshot why a service has an address or lacks it. */
import { writesOptIn } from '#shared/clusters/mode.ts';
import { type WriterFor, type Writers, writersFor } from '#shared/clusters/writer-for.ts';
import { decideEndpoints } from '#shared/endpoints/decide.ts';
import { type Controller, outputKindOf } from '#shared/kube/controllers.ts';
import { type Labels, selectorMatches } from '#shared/kube/labels.ts';
import { annotationOverCapacity, optInManagedBy } from '#shared/kube/names.ts';
import type { Pod, Service } from '#shared/kube/types.ts';
import { isOptInSlice, waitingText } from '#shared/opt-in/hand-over.ts';
import { withOptInSelector, writerOf } from '#shared/opt-in/writer.ts';
import { addressTypesOf } from '#shared/slices/address-types.ts';
import { isClean } from '#shared/workqueue/rules/item.ts';
import type { EndpointsPlace, Explanation, PodExplanation, SlicePlace, Verdict } from './explanation.ts';
import { clusterFacts, savedFacts, serviceFacts, timeText, workFacts } from './facts.ts';
import type { ExplainInput, KnownPod } from './input.ts';
import { endpointsVerdict, isNear, mismatches, sliceVerdict } from './pod-verdicts.ts';
import { endpointsPlaces, savedAddresses, slicePlaces } from './saved.ts';
import { toldDifferences } from './told-differences.ts';
import { derivedFromImport, derivedText } from './writer-facts.ts';

export function explainService(input: ExplainInput): Explanation {
  const pods = explainPods(input);
  const { set } = input;
  const told = toldDifferences(input.service, input.meta, input.difference);
  const preview = set?.preview ?? [];
  return {
    cluster: input.meta.id,
    namespace: input.namespace,
    name: input.name,
    summary: [input.service || !set ? summaryOf(input, pods) : '', set?.exportSummary, set?.importSummary].filter(Boolean).join(' '),
    groups: [
      ...(input.service ? [{ title: 'Service', facts: serviceFacts(input.service, input) }] : []),
      ...(set?.groups ?? []),
      ...(input.service || !set
        ? [
            { title: 'Work', facts: workFacts(input) },
            { title: 'Saved', facts: savedFacts(input) },
          ]
        : []),
      { title: 'Cluster', facts: clusterFacts(input.meta, input.now) },
    ],
    saved: savedAddresses(input.saved),
    pods,
    differencesTitle: preview.length > 0 && told.lines.length === 0 ? 'Preview' : told.title,
    differences: [...told.lines, ...preview],
    ...(set && { clusterset: set.set }),
  };
}

export type PodsInput = Pick<ExplainInput, 'service' | 'namespace' | 'name' | 'pods' | 'nodes' | 'saved' | 'meta' | 'asked'>;

/** Returns every pod that the service selects, nearly selects, formerly selected or still lists. */
export function explainPods(given: PodsInput): readonly PodExplanation[] {
  // A Service that opts in is explained by its annotation even if the cluster's switch is off: these would be its addresses.
  const writers = writersFor(given.service, given.meta);
  const optsIn = given.service !== undefined && writerOf(given.service).by === 'opt-in';
  const input = { ...given, writers, optsIn, service: given.service && withOptInSelector(given.service, 'active') };
  const { service, saved, asked } = input;
  const selector = selectorOf(service);
  // During a hand-over the slices of both writers exist.
  const slices = saved.slices.filter((slice) => !selector || isOptInSlice(slice) === input.optsIn);
  const world = { ...input, inEndpoints: endpointsPlaces(saved.endpoints), inSlices: slicePlaces(slices) };
  const listed = new Set([...world.inEndpoints.keys(), ...[...world.inSlices.values()].flatMap((places) => [...places.keys()])]);
  const capacity = service && selector ? capacityOf(input, service, selector) : undefined;
  const explained = new Map<string, PodExplanation>();
  for (const known of input.pods) {
    const relation = relationOf(known, selector, listed) ?? (known.pod && known.name === asked ? 'near' : undefined);
    if (relation) explained.set(known.name, explainPod(world, known, relation, selector, capacity));
  }
  for (const name of listed) {
    if (!explained.has(name)) explained.set(name, explainPod(world, { name, pod: undefined, past: [] }, 'left', selector, undefined));
  }
  return [...explained.values()].sort((a, b) => order[a.relation] - order[b.relation] || (a.pod < b.pod ? -1 : 1));
}

/** Returns if a pod should be an address and why, independent of the saved outputs and of other pods. The capacity of Endpoints is ignored. */
export function verdictsOf(input: Omit<PodsInput, 'pods' | 'saved' | 'asked'>, known: KnownPod): Pick<PodExplanation, 'endpoints' | 'slices'> {
  const selector = selectorOf(input.service);
  const relation = relationOf(known, selector, new Set()) === 'selected' ? 'selected' : 'left';
  const saved = { endpoints: undefined, slices: [] };
  const writers = writersFor(input.service, input.meta);
  const world: World = { ...input, writers, pods: [known], saved, optsIn: false, inEndpoints: new Map(), inSlices: new Map() };
  return explainPod(world, known, relation, selector, undefined);
}

/** The input with the pods' places in the written outputs. */
interface World extends PodsInput {
  readonly writers: Writers;
  readonly optsIn: boolean;
  readonly inEndpoints: ReadonlyMap<string, EndpointsPlace>;
  readonly inSlices: ReadonlyMap<string, ReadonlyMap<string, SlicePlace>>;
}

const order = { selected: 0, left: 1, near: 2 } as const;

/** Returns the selector that the controllers use, or undefined for a service whose endpoints they do not write. */
const selectorOf = (service: Service | undefined): Labels | undefined =>
  service?.spec?.type === 'ExternalName' ? undefined : (service?.spec?.selector ?? undefined);

function relationOf(
  { name, pod, past }: KnownPod,
  selector: Labels | undefined,
  listed: ReadonlySet<string>,
): PodExplanation['relation'] | undefined {
  if (pod && selectorMatches(selector, pod.metadata.labels)) return 'selected';
  if (listed.has(name) || past.some((labels) => selectorMatches(selector, labels))) return 'left';
  return pod && selector && isNear(selector, pod.metadata.labels) ? 'near' : undefined;
}

function explainPod(
  world: World,
  { name, pod, past }: KnownPod,
  relation: PodExplanation['relation'],
  selector: Labels | undefined,
  capacity: Capacity | undefined,
): PodExplanation {
  const { service, nodes, writers, saved, optsIn, inEndpoints, inSlices } = world;
  const families = service ? addressTypesOf(service) : [];
  // If an output is saved without its content, the places of its addresses are unknown.
  const place = <P extends string>(verdict: Verdict<P>, at: P | undefined, controller: Controller): Verdict<P> =>
    saved.withoutContent?.includes(outputKindOf[controller]) ? verdict : withPending(verdict, at, writers[controller].task);
  const common = { pod: name, relation };

  if (relation !== 'selected' || !service || !pod) {
    const why = whyUnselected(service, selector, pod, past);
    const absent = { place: 'absent', why, addresses: [] } as const;
    return {
      ...common,
      endpoints: place<EndpointsPlace>(absent, inEndpoints.get(name), 'endpoints'),
      slices: families.map((family) => ({ family, ...place<SlicePlace>(absent, inSlices.get(family)?.get(name), 'slices') })),
    };
  }
  const verdict = optsIn ? noEndpoints : endpointsVerdict(pod, service);
  const fits = verdict.place === 'absent' || !capacity || capacity.places.has(name);
  const endpoints: Verdict<EndpointsPlace> = fits ? verdict : { place: 'absent', why: capacity.why, addresses: [] };
  return {
    ...common,
    endpoints: place(endpoints, inEndpoints.get(name), 'endpoints'),
    slices: families.map((family) => ({
      family,
      ...place(sliceVerdict(pod, service, family, nodes), inSlices.get(family)?.get(name), 'slices'),
    })),
  };
}

const noEndpoints = { place: 'absent', why: 'a Service that opts in gets no Endpoints', addresses: [] } as const;

function whyUnselected(service: Service | undefined, selector: Labels | undefined, pod: Pod | undefined, past: readonly Labels[]): string {
  if (!service) return 'the service does not exist';
  if (service.spec?.type === 'ExternalName') return 'the service is an ExternalName: it has no endpoints';
  if (!selector) return 'the service has no selector that the hub can use';
  if (!pod) return 'the pod is gone';
  const before = past.some((labels) => selectorMatches(selector, labels)) ? '; its labels matched before' : '';
  return `${mismatches(selector, pod.metadata.labels).join('; ')}${before}`;
}

interface Capacity {
  /** The listed pods of Endpoints that are cut to their capacity. */
  readonly places: ReadonlyMap<string, EndpointsPlace>;
  readonly why: string;
}

/** Returns undefined if all addresses fit. */
function capacityOf({ namespace, name, pods }: PodsInput, service: Service, selector: Labels): Capacity | undefined {
  const selected = pods.flatMap(({ pod }) => (pod && selectorMatches(selector, pod.metadata.labels) ? [pod] : []));
  const { write } = decideEndpoints({ namespace, name, service, pods: selected, current: undefined, triggerTimes: undefined });
  if (write?.verb !== 'create' || write.object.metadata.annotations?.[annotationOverCapacity] === undefined) return undefined;
  const places = endpointsPlaces(write.object);
  const wanted = selected.filter((pod) => endpointsVerdict(pod, service).place !== 'absent').length;
  return { places, why: `over capacity: Endpoints list ${places.size.toLocaleString('en')} of ${wanted.toLocaleString('en')}, ready ones first` };
}

function withPending<P extends string>(verdict: Verdict<P>, saved: P | undefined, task: WriterFor['task']): Verdict<P> {
  const is = saved ?? 'absent';
  if ((task !== 'write' && task !== 'compare') || is === verdict.place) return verdict;
  const pending = is === 'absent' ? 'not listed' : `listed (${is})`;
  return {
    ...verdict,
    pending:
      task === 'compare'
        ? `the cluster’s own controller has it ${pending}`
        : `as saved it is ${is === 'absent' ? 'not listed yet' : `still ${pending}`}`,
  };
}

function summaryOf(input: ExplainInput, pods: readonly PodExplanation[]): string {
  const { service } = input;
  if (!service) return `The service does not exist${pods.length > 0 ? '; the next run deletes its remaining endpoints' : ''}.`;
  const writer = writerOf(service);
  if (service.spec?.type === 'ExternalName') return 'An ExternalName service: it has no endpoints.';
  if (writer.by === 'invalid-annotation') return `${capital(writer.reason)}: its slices stay as they are.`;
  const derivedFrom = derivedFromImport(service);
  if (derivedFrom !== undefined) return `${capital(derivedText(service, derivedFrom))}.`;
  if (writer.by === 'none') return 'No selector and no annotation: its endpoints are made by hand or by another controller.';
  const selected = pods.filter((p) => p.relation === 'selected');
  const ready = selected.filter((p) => p.endpoints.place === 'addresses' || p.slices.some((s) => s.place === 'ready')).length;
  const count =
    selected.length === 0 ? 'It selects no pod' : `${ready} of ${selected.length} selected pods ${ready === 1 ? 'is' : 'are'} ready to be reached`;
  return `${count}; ${stateOf(input)}.`;
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const handOverText = (isToHub: boolean): string =>
  isToHub
    ? 'the slices of the built-in controllers stay until those of the hub serve every ready address'
    : 'its slices stay until those of the built-in controllers serve every ready address';

function stateOf({ service, work, meta, difference, contested, now }: ExplainInput): string {
  const { endpoints, slices } = writersFor(service, meta);
  if (difference?.text === waitingText && writesOptIn(meta)) return handOverText(slices.as === optInManagedBy);
  const tasks = [endpoints.task, slices.task];
  if (!tasks.includes('write') && tasks.includes('compare')) {
    if (!difference) return isClean(work) ? 'the cluster’s own controllers wrote the same' : 'a comparison is under way';
    return difference.confirmed ? 'the cluster’s own controllers wrote something different' : 'a difference is not confirmed yet';
  }
  if (!tasks.includes('write')) return `nothing is written: ${slices.why}`;
  if (contested) return `it is not written until ${timeText(contested.untilMs, now)}: ${contested.manager} keeps writing its objects`;
  if (isClean(work)) return 'everything is written';
  if (meta.circuit) return `a run is pending, but the circuit of the cluster is open (${meta.circuit.reason})`;
  const failing = Math.max(work.controllers.endpoints.failures, work.controllers.slices.failures);
  if (failing > 0) return `a run is pending after ${failing} failed ${failing === 1 ? 'try' : 'tries'}`;
  return work.lease && work.lease.untilMs > now ? 'a run is under way' : 'a run is pending';
}
