/**
 * Pods of which a plan changes what the outputs say. Pure. Ports, zones and hints are left out: they follow from the Service, from Nodes and from all Pods
 * together, and the ports of a Pod do not change.
 */
import type { Endpoint, EndpointAddress, EndpointSlice, Endpoints } from '#shared/kube/types.ts';
import type { SlicesPlan } from '#shared/slices/plan.ts';

/** Names of Pods. None where there was no output before: nothing is taken back then. */
export function podsChangedInEndpoints(before: Endpoints | undefined, after: Endpoints | undefined): ReadonlySet<string> {
  return before ? changed(statementsOf(before), statementsOf(after)) : new Set();
}

/** `slices`: all that there are before the plan is carried out. */
export function podsChangedInSlices(slices: readonly EndpointSlice[], plan: SlicesPlan): ReadonlySet<string> {
  return changedBy(slices, plan, podOf);
}

type OfWhat = (endpoint: Endpoint) => string | undefined;
const podOf: OfWhat = ({ targetRef }) => targetRef?.name;

function changedBy(slices: readonly EndpointSlice[], { unsupported, addressTypes }: SlicesPlan, ofWhat: OfWhat): ReadonlySet<string> {
  if (slices.length === 0) return new Set();
  const written = addressTypes.flatMap((t) => [...t.update, ...t.create]);
  const replaced = new Set([...unsupported, ...addressTypes.flatMap((t) => [...t.update, ...t.delete])].map((s) => s.metadata.name));
  return changed(
    statementsOfSlices(
      slices.filter((s) => replaced.has(s.metadata.name)),
      ofWhat,
    ),
    statementsOfSlices(written, ofWhat),
  );
}

/** Of an import's slices, whose endpoints name no Pods: the addresses. `slices`: all of its source. */
export function addressesChangedInSlices(slices: readonly EndpointSlice[], plan: SlicesPlan): ReadonlySet<string> {
  return changedBy(slices, plan, ({ addresses }) => addresses[0]);
}

/** Of which none of the others says the same. */
export function podsOnlyIn(slices: readonly EndpointSlice[], others: readonly EndpointSlice[]): ReadonlySet<string> {
  return changed([...statementsOfSlices(slices), ...statementsOfSlices(others)], statementsOfSlices(others));
}

/** What an output says of a Pod. */
interface Statement {
  readonly pod: string | undefined;
  /** The Pod's name included. */
  readonly text: string;
}

function statementsOf(endpoints: Endpoints | undefined): readonly Statement[] {
  const ofAddress = (isReady: boolean) => (a: EndpointAddress) => ({
    pod: a.targetRef?.name,
    text: JSON.stringify([a.targetRef?.name, a.ip, a.targetRef?.uid, a.hostname ?? '', a.nodeName ?? '', isReady]),
  });
  return (endpoints?.subsets ?? []).flatMap((s) => [
    ...(s.addresses ?? []).map(ofAddress(true)),
    ...(s.notReadyAddresses ?? []).map(ofAddress(false)),
  ]);
}

const statementsOfSlices = (slices: readonly Pick<EndpointSlice, 'addressType' | 'endpoints'>[], ofWhat = podOf): readonly Statement[] =>
  slices.flatMap((s) => (s.endpoints ?? []).map((e) => ofEndpoint(s.addressType, e, ofWhat)));

function ofEndpoint(addressType: string, endpoint: Endpoint, ofWhat: OfWhat): Statement {
  const { addresses, targetRef, hostname, nodeName, conditions } = endpoint;
  const { ready, serving, terminating } = conditions ?? {};
  const pod = ofWhat(endpoint);
  return {
    pod,
    text: JSON.stringify([pod, addressType, [...addresses].sort(), targetRef?.uid, hostname ?? '', nodeName ?? '', ready, serving, terminating]),
  };
}

/** A Pod that moves to another subset or slice is none, nor is one that is said twice. */
function changed(before: readonly Statement[], after: readonly Statement[]): ReadonlySet<string> {
  const [was, is] = [new Set(before.map((s) => s.text)), new Set(after.map((s) => s.text))];
  const names = new Set<string>();
  for (const { pod, text } of before) if (pod && !is.has(text)) names.add(pod);
  for (const { pod, text } of after) if (pod && !was.has(text)) names.add(pod);
  return names;
}
