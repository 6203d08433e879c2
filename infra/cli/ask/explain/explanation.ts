/** The answer of `explain`: texts for people, with enough structure for the console's page. */
import type { Count } from '#infra/cli/ask/answer/data-types.ts';
import type { Health } from '#infra/cli/ask/answer/health.ts';
import type { Answer } from '#infra/cli/ask/answer/service-answer.ts';
import type { PodVerdicts, SlicePlace } from '#shared/controllers/verdicts/verdict.ts';

/** The state of a Service's endpoints, for programs. docs/reference/codes.md lists the codes. */
export const serviceStates = [
  'Written',
  'Pending',
  'Failing',
  'GivenUp',
  'OutOfDate',
  'CircuitOpen',
  'WriterConflict',
  'Same',
  'Comparing',
  'Different',
  'HandOver',
  'NotWritten',
  'NoWriter',
  'NoSelector',
  'InvalidAnnotation',
  'DerivedFromImport',
  'ExternalName',
  'ServiceDeleted',
] as const;
export type ServiceState = (typeof serviceStates)[number];

export interface PodExplanation extends PodVerdicts {
  readonly pod: string;
  /**
   * `selected`: the selector matches. `left`: it matched before, or the pod is still listed. `near`: a pair
   * of the selector matches, or the user named the pod.
   */
  readonly relation: 'selected' | 'near' | 'left';
  /** A proxy can send traffic to it. */
  readonly reachable: boolean;
}

export interface Fact {
  readonly label: string;
  readonly text: string;
}

export interface FactGroup {
  readonly title: string;
  readonly facts: readonly Fact[];
}

/**
 * A saved address. Sync has confirmed it on the API server. In shadow mode the cluster's own controllers
 * wrote it.
 */
export interface SavedAddress {
  readonly object: string;
  readonly address: string;
  /** Empty if the object has none, as node and zone. */
  readonly pod: string;
  /** Empty if the object has none. */
  readonly node: string;
  /** Empty if the object has none. */
  readonly zone: string;
  readonly state: string;
  readonly ports: string;
}

/** A cluster that exports the name. */
export interface SourceExplanation {
  readonly cluster: string;
  readonly state: SourceStateName;
  readonly why: string;
  /** Number of addresses in the import. */
  readonly addresses: Count;
  /** Number of the ready ones. */
  readonly ready: Count;
  readonly ports: string;
  /** The pods that the exported Service selects, each with its state in the import's slices. */
  readonly pods: readonly {
    /** Empty: an address that the slices have, and no pod of the source has now. */
    readonly pod: string;
    readonly place: SlicePlace;
    readonly addresses: readonly string[];
    readonly why: string;
  }[];
}

export type SourceStateName = 'fresh' | 'silent' | 'evicted' | 'left';

/** A cluster that may import the name. `imported`: everything is written after its last run. */
export interface ImporterExplanation {
  readonly cluster: string;
  readonly state: ImporterState;
  readonly why: string;
}

export type ImporterState = 'imported' | 'pending' | 'preview' | 'refused' | 'left out';

/** Exporters and importers of the name in a set of clusters. */
export interface SetExplanation {
  readonly set: string;
  readonly sources: readonly SourceExplanation[];
  readonly importers: readonly ImporterExplanation[];
  readonly conflicts: readonly string[];
  /** Addresses that the last run of this cluster's import left out. */
  readonly leftOut: readonly string[];
}

export interface Explanation {
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
  /** Undefined for a name that the cluster only imports. */
  readonly state?: ServiceState;
  /** Undefined if nobody wants it to be reached, or others see to it. */
  readonly health?: Health | undefined;
  /** One sentence. */
  readonly summary: string;
  readonly groups: readonly FactGroup[];
  readonly saved: readonly SavedAddress[];
  /** Pods in the order selected, left, near. */
  readonly pods: readonly PodExplanation[];
  readonly differencesTitle: string;
  /**
   * Current differences in a shadow cluster. For a Service that opts in, or an import, whose switch is
   * shadow: the writes that would be made.
   */
  readonly differences: readonly string[];
  /** Undefined if no cluster exports the name, or if the cluster neither exports nor imports. */
  readonly clusterset?: SetExplanation;
  /** What is served, and why. Undefined if it is not known. */
  readonly answer?: Pick<Answer, 'reach' | 'currency' | 'causes' | 'served' | 'live' | 'reachable'>;
  /** What could not be read, and is therefore not known. */
  readonly unknown?: readonly string[];
}
