/** What `explain` answers: words for people, and enough structure for a page to lay them out. */

/** Where a pod is to be in Endpoints. */
export type EndpointsPlace = 'addresses' | 'notReadyAddresses' | 'absent';
/** Where a pod is to be in the slices of one family: by its conditions. */
export type SlicePlace = 'ready' | 'not ready' | 'absent';

export interface Verdict<Place extends string> {
  readonly place: Place;
  /** Why, in words. */
  readonly why: string;
  /** The addresses it is listed with; none if it is absent. */
  readonly addresses: readonly string[];
  /** How it differs from the written outputs; undefined when it does not. */
  readonly pending?: string;
}

export interface PodExplanation {
  readonly pod: string;
  /** `selected`: the selector matches. `left`: it did match, or is still listed. `near`: it shares a pair of the selector, or was asked for. */
  readonly relation: 'selected' | 'near' | 'left';
  readonly endpoints: Verdict<EndpointsPlace>;
  /** One for each family that the service has slices of. */
  readonly slices: readonly (Verdict<SlicePlace> & { readonly family: string })[];
}

export interface Fact {
  readonly label: string;
  readonly text: string;
}

export interface FactGroup {
  readonly title: string;
  readonly facts: readonly Fact[];
}

/** An address as it is saved: what sync proved to be on the server, or in shadow mode what the cluster's own controllers wrote. */
export interface SavedAddress {
  readonly object: string;
  readonly address: string;
  readonly pod: string;
  readonly state: string;
  readonly ports: string;
}

/** A cluster that exports the name. */
export interface SourceExplanation {
  readonly cluster: string;
  readonly state: SourceStateName;
  readonly why: string;
  /** Addresses in the import, and how many of them are ready. */
  readonly addresses: number;
  readonly ready: number;
  readonly ports: string;
  /** Those that the exported Service selects, each with its place in the import's slices. */
  readonly pods: readonly { readonly pod: string; readonly place: SlicePlace; readonly addresses: readonly string[]; readonly why: string }[];
}

export type SourceStateName = 'fresh' | 'silent' | 'evicted' | 'left';

/** A cluster that may import the name. `imported`: its last run has found everything written. */
export interface ImporterExplanation {
  readonly cluster: string;
  readonly state: ImporterState;
  readonly why: string;
}

export type ImporterState = 'imported' | 'owed' | 'preview' | 'refused' | 'left out';

/** What the clusters of a set have to do with the name. */
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
  /** One sentence. */
  readonly summary: string;
  readonly groups: readonly FactGroup[];
  readonly saved: readonly SavedAddress[];
  /** Selected ones first, then those that left, then near ones. */
  readonly pods: readonly PodExplanation[];
  readonly differencesTitle: string;
  /** What differs now in a shadow cluster; of a Service that opts in, where its cluster only tries, what would be written. */
  readonly differences: readonly string[];
  /** Undefined: no cluster exports the name, or the cluster takes no part in a set. */
  readonly clusterset?: SetExplanation;
}
