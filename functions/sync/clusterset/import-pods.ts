/**
 * The Pods of an import's source, by the rule of run-pods.ts: what the slices say of a Pod a run changes only by a record that was read since its reads
 * began. Imported endpoints name no Pods, so a Pod is known by its addresses.
 */
import { canonicalIP } from '#shared/kube/ip.ts';
import type { Pod } from '#shared/kube/types.ts';
import type { KeptPods } from '#shared/pod-log/pod-cache.ts';
import { type PodsOfRun, RunPods } from '../state/run-pods.ts';

export class ImportPods {
  readonly #pods: RunPods;
  readonly #formerly: KeptPods['formerly'];

  constructor({ formerly, ...of }: PodsOfRun & Pick<KeptPods, 'formerly'>) {
    this.#pods = new RunPods(of);
    this.#formerly = formerly;
  }

  /** Those that the exported Service selects, as this run knows them by now. */
  get selected(): readonly Pod[] {
    return this.#pods.selected;
  }

  /** Reads the Pods that have, or had, one of the addresses and were not read since the run's reads began. False: the Service selects others than before. */
  areAsKnown(addresses: ReadonlySet<string>): Promise<boolean> {
    const names = new Set<string>();
    const unknown = new Set(addresses);
    for (const { metadata, status } of this.#pods.all)
      for (const { ip } of status?.podIPs ?? []) {
        const address = canonicalIP(ip)?.text ?? '';
        if (!addresses.has(address)) continue;
        names.add(metadata.name);
        unknown.delete(address);
      }
    for (const address of addresses) {
      const name = this.#formerly.get(address);
      if (name === undefined) continue;
      names.add(name);
      unknown.delete(address);
    }
    // Whose it was, or is, only the whole namespace tells.
    return this.#pods.areAsKnown(unknown.size > 0 ? 'all' : names);
  }
}
