import type { ClusterApi } from '#shared/cluster/port.ts';
import type { MessageQueue } from '#shared/queue/port.ts';
import type { Table } from '#shared/snapshot/table.ts';
import type { Actor } from './actor.ts';
import type { Profile } from './profile.ts';
import type { World } from './world.ts';

/** A deliberate bug, put between the code and its ports. */
export interface Mutant {
  readonly name: string;
  readonly profile?: Partial<Profile>;
  readonly table?: (table: Table, actor: Actor, world: World) => Table;
  readonly queue?: (queue: MessageQueue, name: string, actor: Actor, world: World) => MessageQueue;
  readonly api?: (api: ClusterApi, actor: Actor, world: World) => ClusterApi;
  readonly begin?: (world: World) => void;
  readonly redriveCopies?: boolean;
  readonly deletesFailed?: boolean;
}

export const mutants: readonly Mutant[] = [];
