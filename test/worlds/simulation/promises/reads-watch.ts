/**
 * What a process reads of the snapshot at a time, in bytes and in units of one partition: both are
 * everybody's (docs/operate/limits.md).
 */
import { itemSize } from '#shared/store/item-size.ts';
import { metaKey } from '#shared/store/keys.ts';
import type { Item, Table } from '#shared/store/table.ts';
import type { Profile } from '#test/worlds/simulation/faults/profile.ts';
import { type Actor, isWorker } from '#test/worlds/simulation/world/actor.ts';

/** Runs that began before and after a change of a Node each need a read. */
const maxNodeReads = 2;

/** Pages of so few objects are looked through one after the other. */
const pageItems = 30;
/** And of so many records without their text, which may have 128 KB of former labels each (objects.ts). */
const pageHeads = 100;

/** Reads that overlap. */
interface Burst {
  underWay: number;
  readonly partitions: Map<string, { underWay: number; bytes: number }>;
}

export class ReadsWatch {
  readonly #table: Table;
  readonly #profile: Profile;
  readonly #fail: (what: string) => void;
  /** Answers of objects that a process waits for at the same time. */
  readonly #bursts = new WeakMap<Actor, Burst>();
  /** Whole reads of a cluster's Nodes by a worker, by the version of the set of Nodes. */
  readonly #nodeReads = new WeakMap<object, Map<string, number>>();

  /** `table`: as it is, without faults. */
  constructor(table: Table, profile: Profile, fail: (what: string) => void) {
    this.#table = table;
    this.#profile = profile;
    this.#fail = fail;
  }

  table(actor: Actor, table: Table): Table {
    return {
      ...table,
      query: async (pk, range) => {
        // Ingest reads them for lists, too.
        if (actor.name.startsWith('sync-') && pk.endsWith('#NODE') && range?.from === undefined) {
          // A read that was refused is made again.
          const nodes = await table.query(pk, range);
          await this.#countNodes(actor, pk);
          return nodes;
        }
        const isPage = (range?.atMost ?? Number.POSITIVE_INFINITY) <= (range?.only ? pageHeads : pageItems);
        if (!/#(POD|SVC)#/.test(pk) || isPage) return table.query(pk, range);
        return this.#counted(actor, pk, () => table.query(pk, range));
      },
    };
  }

  async #counted(actor: Actor, pk: string, query: () => Promise<readonly Item[]>): Promise<readonly Item[]> {
    const burst = this.#bursts.get(actor) ?? { underWay: 0, partitions: new Map() };
    this.#bursts.set(actor, burst);
    if (burst.underWay === 0) burst.partitions.clear();
    // The runs of a worker read a namespace one after the other, however many there are, while reads of other
    // namespaces go on.
    const partition = burst.partitions.get(pk) ?? { underWay: 0, bytes: 0 };
    burst.partitions.set(pk, partition);
    if (partition.underWay === 0) partition.bytes = 0;
    burst.underWay++;
    partition.underWay++;
    try {
      const items = await query();
      const bytes = items.reduce((sum, item) => sum + itemSize(item), 0);
      partition.bytes += bytes;
      const atOnce = [...burst.partitions.values()].reduce((sum, { bytes }) => sum + bytes, 0);
      if (pk.includes('#POD#') && isWorker(actor) && bytes > this.#profile.limits.pods.maxBytes)
        this.#fail(`${actor.name} has ${bytes} bytes of ${pk} in one answer`);
      if (atOnce > this.#maxBytes())
        this.#fail(`${actor.name} has ${atOnce} bytes of objects at a time, the last of them of ${pk}`);
      return items;
    } finally {
      burst.underWay--;
      partition.underWay--;
    }
  }

  /**
   * Of the namespace of a large tenant its Pods and its Services, each as much as a process takes; and of the
   * others their few objects.
   */
  #maxBytes(): number {
    const { pods, ingest } = this.#profile.limits;
    return 2 * Math.max(pods.maxBytes, ingest.rangeBytes) + othersBytes;
  }

  async #countNodes(actor: Actor, pk: string): Promise<void> {
    const { container } = actor;
    if (!container) return;
    const meta = await this.#table.get(metaKey(pk.slice(0, pk.lastIndexOf('#'))));
    const reads = this.#nodeReads.get(container) ?? new Map<string, number>();
    this.#nodeReads.set(container, reads);
    const version = `${pk} ${meta?.['nodes']}`;
    const count = (reads.get(version) ?? 0) + 1;
    reads.set(version, count);
    if (count > maxNodeReads)
      this.#fail(
        `${actor.name} reads all Nodes ${count} times in its worker, at version ${meta?.['nodes']} of their set`,
      );
  }
}

const othersBytes = 100_000;
