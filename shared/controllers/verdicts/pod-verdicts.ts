/**
 * Explains why a pod is an address of a service or why it is not: the rules of the two controllers in words,
 * one pod at a time. A property test compares the verdicts with decideEndpoints and decideSlices.
 */
import { addressFamily, podAddress } from '#shared/controllers/endpoints/address.ts';
import { podToEndpoint } from '#shared/controllers/slices/endpoint.ts';
import { addressTypesOf } from '#shared/kube/address-types.ts';
import type { Labels } from '#shared/kube/labels.ts';
import {
  findPort,
  isPodReady,
  isPodTerminal,
  readyCondition,
  shouldPodBeInEndpoints,
} from '#shared/kube/pods.ts';
import {
  type Requirement,
  requirementMatches,
  requirementsOf,
  requirementText,
  type Selector,
  selectorMatches,
} from '#shared/kube/selectors/label-selector.ts';
import { hasClusterIPNone } from '#shared/kube/services.ts';
import type { AddressType, Node, Pod, Service, ServicePort } from '#shared/kube/types.ts';
import { notReadyDetails } from './not-ready-details.ts';
import type { EndpointsPlace, PodVerdict, PodVerdicts, Reason, SlicePlace } from './verdict.ts';

type EndpointsVerdict = PodVerdict<EndpointsPlace>;
type SliceVerdict = PodVerdict<SlicePlace>;

/** A pod of the snapshot, or a deleted one, with its former label sets. */
export interface PodToJudge {
  readonly pod: Pod | undefined;
  readonly formerLabels: readonly Labels[];
  /** Why it is left out while its zone is away. Undefined if it is not. */
  readonly away?: string | undefined;
}

/**
 * Returns if a pod should be an address and why, independent of the saved outputs and of other pods: the
 * capacity of Endpoints is ignored.
 */
export function verdictsOf(
  service: Service | undefined,
  { pod, formerLabels, away }: PodToJudge,
  nodes: ReadonlyMap<string, Node>,
): PodVerdicts {
  const families = service ? addressTypesOf(service) : [];
  const selector = selectorOf(service);
  if (service && pod && selectorMatches(selector, pod.metadata.labels)) {
    return {
      endpoints: unlessAway(endpointsVerdict(pod, service), away),
      slices: families.map((family) => ({
        family,
        ...unlessAway(sliceVerdict(pod, service, family, nodes), away),
      })),
    };
  }
  const verdict = unselected(service, selector, pod, formerLabels);
  return { endpoints: verdict, slices: families.map((family) => ({ family, ...verdict })) };
}

/** The other pods decide whether a zone's pods are left out, so the caller says so. */
const unlessAway = <P extends string>(verdict: PodVerdict<P>, away: string | undefined) =>
  away === undefined || verdict.place === 'absent' ? verdict : absent('ZoneAway', away);

/**
 * Returns the selector that the controllers use, or undefined for a service whose endpoints they do not
 * write.
 */
export const selectorOf = (service: Service | undefined): Selector | undefined =>
  service?.spec?.type === 'ExternalName' ? undefined : (service?.spec?.selector ?? undefined);

function unselected(
  service: Service | undefined,
  selector: Selector | undefined,
  pod: Pod | undefined,
  formerLabels: readonly Labels[],
) {
  if (!service) return absent('ServiceDeleted', 'the service does not exist');
  if (service.spec?.type === 'ExternalName')
    return absent('ExternalName', 'the service is an ExternalName: it has no endpoints');
  if (!selector) return absent('NoSelector', 'the service has no selector that the hub can use');
  if (!pod) return absent('PodDeleted', 'the pod is gone');
  const before = formerLabels.some((labels) => selectorMatches(selector, labels))
    ? '; its labels matched before'
    : '';
  return absent('NotSelected', `${mismatches(selector, pod.metadata.labels).join('; ')}${before}`);
}

export const absent = (reason: Reason, why: string) =>
  ({ place: 'absent', reason, why, addresses: [] }) as const;

/**
 * Returns the verdict on a pod that the selector matches. The caller applies the capacity, which depends on
 * the other pods.
 */
export function endpointsVerdict(pod: Pod, service: Service): EndpointsVerdict {
  const publish = service.spec?.publishNotReadyAddresses ?? false;
  if (!shouldPodBeInEndpoints(pod, publish)) return unfit(pod);
  const family = addressFamily(service);
  const address = podAddress(pod, service, family);
  if (!address)
    return absent(
      'NoAddressOfFamily',
      `no ${family ?? 'matching'} address, and Endpoints have one family only`,
    );
  const ports = service.spec?.ports ?? [];
  const missing = missingPorts(pod, ports);
  const unlisted = withoutAnyPort(service, missing);
  if (unlisted) return unlisted;
  const place = publish || isPodReady(pod) ? 'addresses' : 'notReadyAddresses';
  const { why, ...judged } = readiness(pod, publish);
  return { place, ...judged, why: `${why}${withoutPorts(missing, ports)}`, addresses: [address.ip] };
}

const withoutNode = (nodeName: string) =>
  nodeName
    ? absent('NodeUnknown', `node ${nodeName} is unknown: left out of slices until the relay sends it`)
    : absent('NotScheduled', 'it is on no node yet');

function withoutAnyPort(service: Service, missing: ReturnType<typeof missingPorts>) {
  const ports = service.spec?.ports ?? [];
  if (ports.length === 0)
    return hasClusterIPNone(service)
      ? undefined
      : absent('NoServicePorts', 'the service has no ports and is not headless');
  return missing.length === ports.length
    ? absent('NoMatchingPort', `left out of Endpoints: ${noSuchPort(missing)}`)
    : undefined;
}

function ending(
  pod: Pod,
  { ready, serving }: { readonly ready: boolean; readonly serving: boolean },
): Readiness {
  const text = `${terminatingSince(pod)}, ${serving ? 'still serving' : 'no longer serving'}`;
  const why = ready ? `${text}, but published as ready` : text;
  return { reason: 'Terminating', since: deletionRequestedAt(pod), why };
}

/** Returns the verdict on a pod that the selector matches, in the slices of one family. */
export function sliceVerdict(
  pod: Pod,
  service: Service,
  family: AddressType,
  nodes: ReadonlyMap<string, Node>,
): SliceVerdict {
  const publish = Boolean(service.spec?.publishNotReadyAddresses);
  if (!shouldPodBeInEndpoints(pod, true)) return unfit(pod);
  const nodeName = pod.spec?.nodeName ?? '';
  const node = nodes.get(nodeName);
  if (!node && !publish) return withoutNode(nodeName);
  const endpoint = podToEndpoint(pod, node, service, family);
  if (!endpoint) return absent('NoAddressOfFamily', `no ${family} address`);
  const ports = service.spec?.ports ?? [];
  const { ready = false, serving = false, terminating = false } = endpoint.conditions ?? {};
  const { why, ...judged } = terminating ? ending(pod, { ready, serving }) : readiness(pod, publish);
  return {
    place: ready ? 'ready' : 'not ready',
    ...judged,
    serving,
    terminating,
    why: `${why}${withoutPorts(missingPorts(pod, ports), ports)}`,
    addresses: endpoint.addresses,
  };
}

/** Returns the requirements that the labels do not meet, as sentences. Empty if the selector matches. */
const mismatches = (selector: Selector, labels: Labels | undefined): readonly string[] =>
  requirementsOf(selector)
    .filter((requirement) => !requirementMatches(requirement, labels))
    .map((requirement) => mismatch(requirement, labels));

function mismatch(requirement: Requirement, labels: Labels | undefined): string {
  const { key } = requirement;
  const [text, has] = [requirementText(requirement), labels?.[key]];
  return has === undefined
    ? `selector ${text}: the pod has no label ${key}`
    : `selector ${text} does not match label ${key}=${has}`;
}

/** Returns the first reason of SH-3 that applies. */
function unfit(pod: Pod) {
  if (isPodTerminal(pod)) return absent('PodCompleted', `phase ${pod.status?.phase}: it has run to its end`);
  if (!pod.status?.podIP && !pod.status?.podIPs?.length)
    return absent('NoPodIP', `it has no IP address yet${because(pod)}`);
  return { ...absent('Terminating', terminatingSince(pod)), since: deletionRequestedAt(pod) };
}

const terminatingSince = (pod: Pod): string => `terminating since ${deletionRequestedAt(pod)}`;

/** The API server sets deletionTimestamp to the end of the grace period. */
export function deletionRequestedAt({
  metadata: { deletionTimestamp = '', deletionGracePeriodSeconds = 0 },
}: Pod): string {
  const sinceMs = Date.parse(deletionTimestamp) - deletionGracePeriodSeconds * 1000;
  return Number.isNaN(sinceMs) ? deletionTimestamp : new Date(sinceMs).toISOString().replace('.000Z', 'Z');
}

const because = (pod: Pod): string =>
  notReadyDetails(pod)
    .map((detail) => `; ${detail}`)
    .join('');

type Readiness = Pick<PodVerdict<never>, 'reason' | 'since' | 'why'>;

function readiness(pod: Pod, publish: boolean): Readiness {
  const condition = readyCondition(pod);
  const since = condition?.lastTransitionTime && String(condition.lastTransitionTime);
  const why = condition
    ? `its Ready condition is ${condition.status}${since ? ` since ${since}` : ''}`
    : 'it has no Ready condition';
  const reason = condition?.status === 'True' ? 'Ready' : publish ? 'PublishedNotReady' : 'NotReady';
  const published =
    reason === 'PublishedNotReady' ? ', and the service publishes addresses that are not ready' : '';
  const details = reason === 'Ready' ? '' : because(pod);
  return { reason, ...(since && { since }), why: `${why}${details}${published}` };
}

const missingPorts = (pod: Pod, ports: readonly ServicePort[]): readonly ServicePort[] =>
  ports.filter((port) => findPort(pod, port) === undefined);

const noSuchPort = (ports: readonly ServicePort[]): string =>
  `no container port named ${ports.map((p) => `${p.targetPort}/${p.protocol ?? 'TCP'}`).join(', ')}`;

function withoutPorts(missing: readonly ServicePort[], ports: readonly ServicePort[]): string {
  if (missing.length === 0) return '';
  const which =
    missing.length === ports.length ? 'listed without ports' : `without ${missing.map(portName).join(', ')}`;
  return `; ${which}: ${noSuchPort(missing)}`;
}

const portName = (port: ServicePort): string => `port ${port.name || port.port}`;
