import { isNewer } from '#functions/relay/source/resource-version.ts';
import type { Kind } from '#shared/kube/types.ts';
import type { Entry, EventsMessage } from '#shared/queue/messages.ts';

interface Held {
  readonly version: string;
  readonly entry: Entry | undefined;
}

/**
 * A model of the hub for messages in any order: it stores newer versions, applies lists as key ranges, and
 * restores no object below the fence.
 */
export class HubModel {
  private readonly objects = new Map<Kind, Map<string, Held>>();
  private readonly fences = new Map<Kind, string>();

  take(message: EventsMessage): void {
    if (message.type === 'heartbeat') return;
    const { kind, asOf } = message;
    const held = this.objects.get(kind) ?? new Map<string, Held>();
    this.objects.set(kind, held);
    if (message.type === 'list' && isNewer(asOf, this.fences.get(kind) ?? '')) this.fences.set(kind, asOf);
    for (const entry of message.entries) {
      const gone = 'uid' in entry ? entry.deleted === true : entry.projection === undefined;
      this.put(
        kind,
        `${entry.namespace}/${entry.name}`,
        { version: entry.resourceVersion, entry: gone ? undefined : entry },
        asOf,
      );
    }
    if (message.type !== 'list') return;
    const listed = new Set(message.entries.map((e) => `${e.namespace}/${e.name}`));
    for (const [key, { version, entry }] of held) {
      const covered = key > message.from && (message.to === '' || key <= message.to);
      if (entry && covered && !listed.has(key) && isNewer(asOf, version))
        this.put(kind, key, { version: asOf, entry: undefined }, asOf);
    }
  }

  alive(kind: Kind): Map<string, Entry> {
    return new Map(
      [...(this.objects.get(kind) ?? [])].flatMap(([key, { entry }]) =>
        entry ? [[key, entry] as const] : [],
      ),
    );
  }

  private put(kind: Kind, key: string, next: Held, asOf: string): void {
    const held = this.objects.get(kind) as Map<string, Held>;
    const now = held.get(key);
    if (now && !isNewer(next.version, now.version)) return;
    const comesToLife = next.entry !== undefined && now?.entry === undefined;
    if (comesToLife && isNewer(this.fences.get(kind) ?? '', asOf)) return;
    held.set(key, next);
  }
}
