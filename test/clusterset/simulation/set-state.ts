/** The state of a world of several clusters, for its parts. */
import type { Store } from '#infra/local/apiserver/store.ts';
import type { ClustersetMembership } from '#shared/clusterset/contract/clusterset-settings.ts';
import type { Profile } from '#test/worlds/simulation/faults/profile.ts';
import type { Random } from '#test/worlds/simulation/random.ts';
import type { Scheduler } from '#test/worlds/simulation/world/scheduler.ts';
import type { SimulatedTable } from '#test/worlds/simulation/world/simulated-table.ts';
import type { WorldState } from '#test/worlds/simulation/world/world-state.ts';
import type { MemberProfile, SetProfile } from './draw.ts';

export interface Labelled {
  readonly metadata: {
    readonly namespace?: string;
    readonly name?: string;
    readonly labels?: { readonly [key: string]: string };
  };
}

/** One cluster of the set. */
export interface SetMember extends WorldState {
  readonly takesPart: MemberProfile;
  readonly store: Store;
  /** First two bytes of its pods' addresses. */
  readonly network: string;
  /** The kinds of the Multi-Cluster Services API are installed. */
  readonly servesMcs: boolean;
  /** Rejects a write of the object that its API server refuses. */
  checkRefused(kind: string, object: Labelled): void;
  /** When it burnt down, ms since the epoch; infinite while it is there. */
  readonly burntAt: number;
  /** It was taken out of the fleet. */
  readonly hasLeft: boolean;
  /** Its relay is in an attacker's hands. */
  readonly isHostile: boolean;
  /** Workers of sync that it has had. */
  readonly workers: number;
  /** It was restored from a backup. */
  readonly wentBack: boolean;
  /** Imports that people have deleted, by "namespace/name". */
  readonly deletedImports: Set<string>;
  say(what: string): void;
}

export interface SetState {
  readonly seed: number;
  readonly random: Random;
  readonly set: SetProfile;
  readonly profile: Profile;
  readonly scheduler: Scheduler;
  readonly table: SimulatedTable;
  readonly members: readonly SetMember[];
  /** The members in the fleet whose relays are not hostile. */
  readonly present: readonly SetMember[];
  readonly memberships: ReadonlyMap<string, ClustersetMembership>;
  readonly metrics: Map<string, number>;
  readonly faultsEnd: number;
  /** Every call of a process to the table fails. */
  readonly isTableGone: boolean;
  /** The last fault is over. */
  readonly isOver: boolean;
  of(cluster: string): SetMember;
  fail(what: string): void;
  tell(who: string, what: string): void;
  changeMembership(cluster: string, membership: ClustersetMembership): Promise<void>;
}

/** Namespaces of each cluster. */
export const namespacesOf = ({ namespaces }: Profile): readonly string[] => ['a', 'b'].slice(0, namespaces);

export const isMcsKind = (kind: string): boolean => kind === 'ServiceExport' || kind === 'ServiceImport';
