/**
 * An explanation as data for programs. Its schema is generated from these types
 * (infra/package/answer-schemas.ts).
 */

import type { Cause } from '#infra/cli/ask/answer/cause.ts';
import { apiVersion, type Count, type Time } from '#infra/cli/ask/answer/data-types.ts';
import type { Reach } from '#infra/cli/ask/answer/reach.ts';
import type { ServedObject } from '#infra/cli/ask/answer/served-objects.ts';
import type {
  Explanation,
  PodExplanation,
  SavedAddress,
  ServiceState,
  SetExplanation,
} from '#infra/cli/ask/explain/explanation.ts';
import type { ExplainInput } from '#infra/cli/ask/explain/input.ts';
import { type WriterFor, writersFor } from '#shared/clusters/writer/writer-for.ts';
import type { PodVerdict, Reason } from '#shared/controllers/verdicts/verdict.ts';
import type { AddressType } from '#shared/kube/types.ts';
import { partState } from '#shared/workqueue/rules/item.ts';

export interface OfBoth {
  readonly endpoints: Count;
  readonly slices: Count;
}

export interface ExplanationData extends HubData {
  readonly apiVersion: typeof apiVersion;
  readonly kind: 'Explanation';
  readonly cluster: string;
  readonly namespace: string;
  readonly service: string;
  /** Time of the answer, by RFC 3339 in UTC. */
  readonly time: Time;
  /** Null for a name that the cluster only imports, and without a hub. */
  readonly state: ServiceState | null;
  readonly message: string;
  /** Whether a proxy can send traffic to it. Null if what is served was not looked at. */
  readonly reach: Reach | null;
  /** The worst first. */
  readonly causes: readonly Cause[];
  /** Every object that proxies use for the Service, whoever wrote it. */
  readonly served: readonly ServedObject[];
  /** What could not be read, and is therefore not known. */
  readonly unknown: readonly string[];
  readonly pods: readonly PodData[];
  /** The written addresses as the hub has saved them. */
  readonly addresses: readonly SavedAddress[];
  readonly differences: readonly string[];
  readonly clusterset: SetExplanation | null;
}

/** What the hub knows. Each is null without a hub. */
interface HubData {
  readonly mode: string | null;
  readonly optIn: string | null;
  readonly kubernetesVersion: string | null;
  readonly writers: { readonly endpoints: WriterData; readonly slices: WriterData } | null;
  readonly generation: Count | null;
  readonly doneGeneration: OfBoth | null;
  readonly failures: OfBoth | null;
  readonly lastRunTime: Time | null;
  readonly pendingSince: Time | null;
}

interface WriterData {
  readonly writer: WriterFor['writer'];
  readonly task: WriterFor['task'];
  readonly managedBy: string;
  readonly message: string;
}

interface PodData {
  readonly name: string;
  readonly relation: PodExplanation['relation'];
  readonly ready: boolean;
  readonly endpoints: PlaceData;
  readonly slices: readonly (PlaceData & { readonly addressType: AddressType })[];
}

/** The place that the controllers give the pod. */
interface PlaceData {
  /** Whether the controllers list the pod here. */
  readonly listed: boolean;
  readonly ready: boolean;
  readonly serving: boolean | null;
  readonly terminating: boolean | null;
  readonly addresses: readonly string[];
  readonly reason: Reason;
  readonly message: string;
  readonly since: Time | null;
  /** The difference from the written outputs. */
  readonly pending: string | null;
}

export function explanationData(input: ExplainInput, explanation: Explanation): ExplanationData {
  return { ...serviceData(explanation, input.now), ...hubData(input) };
}

/** Without a hub, its part is null. */
export const liveExplanationData = (explanation: Explanation, now: number): ExplanationData => ({
  ...serviceData(explanation, now),
  ...noHub,
});

const noHub: HubData = {
  mode: null,
  optIn: null,
  kubernetesVersion: null,
  writers: null,
  generation: null,
  doneGeneration: null,
  failures: null,
  lastRunTime: null,
  pendingSince: null,
};

function hubData({ cluster, service, work }: ExplainInput): HubData {
  const { endpoints, slices } = writersFor(service, cluster);
  const [ofEndpoints, ofSlices] = [partState(work, 'endpoints'), partState(work, 'slices')];
  return {
    mode: cluster.mode,
    optIn: cluster.withdrawsOptIn ? 'withdrawing' : cluster.optIn,
    kubernetesVersion: cluster.relay.kubernetesVersion ?? null,
    writers: { endpoints: writerData(endpoints), slices: writerData(slices) },
    generation: work.generation,
    doneGeneration: { endpoints: ofEndpoints.doneGeneration, slices: ofSlices.doneGeneration },
    failures: { endpoints: ofEndpoints.failures, slices: ofSlices.failures },
    lastRunTime: work.ranAtMs > 0 ? new Date(work.ranAtMs).toISOString() : null,
    pendingSince: work.dirtyAtMs === undefined ? null : new Date(work.dirtyAtMs).toISOString(),
  };
}

const serviceData = (explanation: Explanation, now: number): Omit<ExplanationData, keyof HubData> => ({
  apiVersion,
  kind: 'Explanation',
  cluster: explanation.cluster,
  namespace: explanation.namespace,
  service: explanation.name,
  time: new Date(now).toISOString(),
  state: explanation.state ?? null,
  message: explanation.summary,
  reach: explanation.answer?.reach ?? null,
  causes: explanation.answer?.causes ?? [],
  served: explanation.answer?.served ?? [],
  unknown: explanation.unknown ?? [],
  pods: explanation.pods.map(podData),
  addresses: explanation.saved,
  differences: explanation.differences,
  clusterset: explanation.clusterset ?? null,
});

const writerData = ({ writer, task, managedBy, why: message }: WriterFor): WriterData => ({
  ...{ writer, task, managedBy, message },
});

const podData = (pod: PodExplanation): PodData => ({
  name: pod.pod,
  relation: pod.relation,
  ready: pod.reachable,
  endpoints: placeData(pod.endpoints),
  slices: pod.slices.map((s) => ({ addressType: s.family, ...placeData(s) })),
});

const placeData = (verdict: PodVerdict<string>): PlaceData => ({
  listed: verdict.place !== 'absent',
  ready: verdict.place === 'addresses' || verdict.place === 'ready',
  serving: verdict.serving ?? null,
  terminating: verdict.terminating ?? null,
  addresses: verdict.addresses,
  reason: verdict.reason,
  message: verdict.why,
  since: verdict.since ?? null,
  pending: verdict.pending ?? null,
});
