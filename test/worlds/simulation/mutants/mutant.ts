/** The form of a deliberate bug, and the world that most of them are let loose in. */
import type { RunsInPlace } from '#functions/ingest/batch/ingest-deps.ts';
import type { Election } from '#functions/relay/election/election.ts';
import type { Relay } from '#functions/relay/relay.ts';
import type { SyncDeps } from '#functions/sync/state/deps.ts';
import type { ClusterApi } from '#shared/clusters/api/port.ts';
import type { MessageQueue } from '#shared/queue/port.ts';
import type { Pods } from '#shared/store/inputs/namespace-pods.ts';
import type { Table } from '#shared/store/table.ts';
import type { SetProfile } from '#test/clusterset/simulation/draw.ts';
import type { TableAnswers } from '#test/worlds/simulation/faults/partial-answers.ts';
import type { Profile } from '#test/worlds/simulation/faults/profile.ts';
import type { Actor } from '#test/worlds/simulation/world/actor.ts';
import type { Message } from '#test/worlds/simulation/world/queue.ts';
import type { WorldState } from '#test/worlds/simulation/world/world-state.ts';

export interface Mutant {
  readonly name: string;
  /** The mechanism that it removes: a row of docs/develop/architecture.md. */
  readonly mechanism: string;
  /** Seeds that find it today, tried first: where the first ones don't, or take long. */
  readonly seeds?: readonly number[];
  /** Profile that exposes the bug. Random profiles would need more seeds. */
  readonly profile?: Partial<Profile>;
  /** The bug is one of exports and imports: the world is a set of clusters. */
  readonly set?: Partial<SetProfile> & { readonly cluster?: Partial<Profile> };
  readonly table?: (table: Table, actor: Actor, world: WorldState) => Table;
  readonly queue?: (queue: MessageQueue, name: string, actor: Actor, world: WorldState) => MessageQueue;
  /** Changes what the driver of the table is answered. */
  readonly client?: (answers: TableAnswers, actor: Actor) => TableAnswers;
  /** How long a call of a client waits for an answer, ms. */
  readonly silentMs?: number;
  /** Changes a worker's reads of pods. */
  readonly pods?: (pods: Pods) => Pods;
  /** Changes the runs that ingest makes itself. */
  readonly inPlace?: (runs: RunsInPlace) => RunsInPlace;
  readonly api?: (api: ClusterApi, actor: Actor, world: WorldState) => ClusterApi;
  /** Changes the Nodes that a worker keeps. */
  readonly nodes?: (nodes: SyncDeps['nodes']) => SyncDeps['nodes'];
  /** Changes when a message counts as sent. */
  readonly sentAt?: (message: Message, nowMs: number) => number;
  /** A relay that takes turns, before it runs. */
  readonly turns?: (relay: Relay, election: Election) => void;
  readonly begin?: (world: WorldState) => void;
  readonly redriveCopies?: boolean;
  readonly deletesFailed?: boolean;
}

/** A profile with crashes only and few changes, so the next change does not hide a loss. */
export const crashing: Partial<Profile> = {
  crashes: 0.4,
  pauses: 0,
  refusals: 0,
  outageMs: 0,
  webhook: false,
  duplicates: 0,
  slow: 0,
  relistMs: 1e9,
  relayKills: 0,
  twoRelays: false,
  standby: false,
  relayFaults: 0,
  shrunkenLists: false,
  sweepWakes: false,
  modeSwitches: 0,
  goesBack: 'never',
  foreignEdits: 0,
  outputsBefore: true,
  syncReceives: 50,
  namespaces: 2,
  services: 3,
  pods: 5,
  changes: 25,
};
