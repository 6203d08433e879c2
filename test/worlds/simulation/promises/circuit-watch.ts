/**
 * One fault stays its own: the circuit of a cluster may open only after the API server left unanswered even
 * what is asked of no object, its identity. What it refuses by itself to every caller, credentials and the
 * rate of requests, needs no such question.
 */
import type { ClusterApi } from '#shared/clusters/api/port.ts';
import type { Table } from '#shared/store/table.ts';
import type { Actor } from '#test/worlds/simulation/world/actor.ts';

const refusedToAll: readonly unknown[] = ['unauthorized', 'throttled'];

export class CircuitWatch {
  /** Questions for the identity that had no answer yet, or none at all. */
  readonly #unanswered = new WeakMap<Actor, number>();
  readonly #fail: (what: string) => void;

  constructor(fail: (what: string) => void) {
    this.#fail = fail;
  }

  api(actor: Actor, api: ClusterApi): ClusterApi {
    const count = (more: number): unknown =>
      this.#unanswered.set(actor, (this.#unanswered.get(actor) ?? 0) + more);
    return {
      ...api,
      identity: async () => {
        count(1);
        const identity = await api.identity();
        count(-1);
        return identity;
      },
    };
  }

  table(actor: Actor, table: Table): Table {
    return {
      ...table,
      update: (key, change, condition) => {
        const circuit = change.set?.['circuit'];
        if (key.sk === 'META' && typeof circuit === 'string') this.#check(actor, circuit);
        return table.update(key, change, condition);
      },
    };
  }

  #check(actor: Actor, circuit: string): void {
    const { reason } = JSON.parse(circuit) as { readonly reason: unknown };
    if (refusedToAll.includes(reason) || (this.#unanswered.get(actor) ?? 0) > 0) return;
    this.#fail(
      `${actor.name} opens the circuit (${String(reason)}), and the API server was not asked, or has answered`,
    );
  }
}
