/**
 * Compares the answers of `explain --at` with the addresses that were really listed at each time. An answer
 * must be true, uncertain, or unknown for a valid reason.
 */

import { explainThen } from '#infra/cli/ask/explain-then.ts';
import { placeText } from '#infra/cli/ask/history/sentences.ts';
import type { Then } from '#infra/cli/ask/history/then.ts';
import { readHistory } from '#infra/cli/ask/history-service.ts';
import { UsageError } from '#infra/cli/terminal/usage-error.ts';
import type { Store } from '#infra/local/apiserver/store.ts';
import { addressesOf, inEndpoints } from '#shared/controllers/history/addresses.ts';
import { writerOf } from '#shared/controllers/opt-in/writer.ts';
import {
  labelServiceName,
  labelSliceManagedBy,
  optInManagedBy,
  slicesManagedBy,
} from '#shared/kube/names.ts';
import type { Table } from '#shared/store/table.ts';
import { ordinaryLimits } from '#test/worlds/simulation/faults/draw-limits.ts';
import { isOfTenant } from '#test/worlds/simulation/faults/large-tenant.ts';
import type { Profile } from '#test/worlds/simulation/faults/profile.ts';
import { mayLoseRecords } from './history.ts';

/** Since then these addresses were listed, one a line. */
interface Listing {
  readonly atMs: number;
  readonly lines: readonly string[];
  /** The hub has slices of the Service. */
  readonly isOurs: boolean;
  /** Who writes the Service by its own fields; undefined without a Service. */
  readonly writer: string | undefined;
}

/** How late a message, or the relay, may be. */
const lateMs = 45_000;

export interface Answers {
  certain: number;
  uncertain: number;
  notKnown: number;
}

export class ListedThen {
  readonly #store: Store;
  readonly #profile: Profile;
  readonly #now: () => number;
  /** By namespace/name, oldest first. */
  readonly #listings = new Map<string, Listing[]>();
  /** The times of the hub's writes of each Service. */
  readonly #wroteAt = new Map<string, number[]>();
  readonly #modes: { readonly atMs: number; readonly mode: string }[] = [];
  readonly answers: Answers = { certain: 0, uncertain: 0, notKnown: 0 };

  constructor(store: Store, profile: Profile, now: () => number) {
    this.#store = store;
    this.#profile = profile;
    this.#now = now;
    store.watch('Endpoints', ({ object: { metadata } }) =>
      this.#look(metadata.namespace ?? '', metadata.name),
    );
    store.watch('Service', ({ object: { metadata } }) => this.#look(metadata.namespace ?? '', metadata.name));
    store.watch('EndpointSlice', ({ object, previous }) => {
      for (const { metadata } of [object, ...(previous ? [previous] : [])]) {
        const service = metadata.labels?.[labelServiceName];
        if (service !== undefined) this.#look(metadata.namespace ?? '', service);
      }
    });
  }

  /** At the beginning, and when the cluster has gone back, which no watch shows. */
  lookAtAll(): void {
    const slices = this.#store
      .list('EndpointSlice')
      .map(({ metadata: m }) => `${m.namespace}/${m.labels?.[labelServiceName]}`);
    const others = [...this.#store.list('Service'), ...this.#store.list('Endpoints')].map(
      ({ metadata: m }) => `${m.namespace}/${m.name}`,
    );
    for (const key of new Set([...this.#listings.keys(), ...slices, ...others])) {
      const [namespace = '', name = ''] = key.split('/');
      this.#look(namespace, name);
    }
  }

  switched(mode: string): void {
    this.#modes.push({ atMs: this.#now(), mode });
  }

  wrote(namespace: string, service: string): void {
    const key = `${namespace}/${service}`;
    this.#wroteAt.set(key, [...(this.#wroteAt.get(key) ?? []), this.#now()]);
  }

  #look(namespace: string, name: string): void {
    // The hub has no record of a Service that is too large.
    if (isOfTenant(namespace)) return;
    const key = `${namespace}/${name}`;
    const all = this.#listings.get(key) ?? [];
    this.#listings.set(key, all);
    const service = this.#store.find('Service', namespace, name);
    const listing = {
      atMs: this.#now(),
      ...this.#listed(namespace, name),
      writer: service && writerOf(service).by,
    };
    const last = all.at(-1);
    if (
      last?.lines.join() !== listing.lines.join() ||
      last.isOurs !== listing.isOurs ||
      last.writer !== listing.writer
    )
      all.push(listing);
  }

  /**
   * Beside the built-in controllers the hub answers for its own slices, and theirs are served where it has
   * none.
   */
  #listed(namespace: string, name: string): Pick<Listing, 'lines' | 'isOurs'> {
    const slicesBy = (managers: readonly string[]) =>
      this.#store.list('EndpointSlice', namespace).filter(({ metadata: { labels = {} } }) => {
        return labels[labelServiceName] === name && managers.includes(labels[labelSliceManagedBy] ?? '');
      });
    const both = slicesBy([optInManagedBy, slicesManagedBy]);
    const ours = this.#profile.isBeside ? slicesBy([optInManagedBy]) : both;
    const endpoints = this.#profile.isBeside ? undefined : this.#store.find('Endpoints', namespace, name);
    const outputs = [...(ours.length > 0 ? ours : both), ...(endpoints ? [endpoints] : [])];
    return {
      lines: [...addressesOf(outputs).values()].map((a) => lineOf(placeText(a.where), a)).sort(),
      isOurs: ours.length > 0,
    };
  }

  /** Asked of each time at which what is listed had not changed for a while, and did not for a while. */
  async errors(table: Table, cluster: string): Promise<readonly string[]> {
    const wrong: string[] = [];
    const { pauses, slow, stalls } = this.#profile;
    const marginMs = pauses + slow + stalls > 0 ? 45_000 : 4_000;
    for (const [service, listings] of this.#listings) {
      const [namespace = '', name = ''] = service.split('/');
      for (const [i, listing] of listings.entries()) {
        const nextMs = listings[i + 1]?.atMs;
        const untilMs = nextMs ?? this.#now() + marginMs;
        if (untilMs - listing.atMs < 2 * marginMs) continue;
        const atMs = Math.min(Math.floor((listing.atMs + untilMs) / 2), this.#now());
        const key = { cluster, namespace, name };
        const then = await explainThen(table, key, atMs, this.#now()).catch((error: unknown) => {
          // The hub has never received the Service, or has lost it with an interrupted run.
          if (error instanceof UsageError && !this.#store.find('Service', namespace, name)) return undefined;
          throw error;
        });
        const { records, missing } = await readHistory(table, key, { sinceMs: 0, nowMs: this.#now() });
        const isCutShort = records.some((r) => r.gap?.includes('cut short'));
        const isAfterMissing = missing.some((id) => id <= atMs);
        const isUnanswered =
          Object.keys(records.findLast((r) => r.endedMs <= atMs)?.endings ?? {}).length > 0;
        const error =
          then &&
          this.#errorIn(then, {
            service,
            listing,
            marginMs,
            isCutShort,
            isAfterMissing,
            isUnanswered,
            isSettled: atMs - listing.atMs >= lateMs && (nextMs === undefined || nextMs - atMs >= lateMs),
            later: listings.slice(i + 1),
          });
        if (error !== undefined) wrong.push(`${service} at ${new Date(atMs).toISOString()}: ${error}`);
      }
    }
    return wrong;
  }

  #errorIn(then: Then, asked: Asked): string | undefined {
    if (!then.isKnown) {
      this.answers.notKnown++;
      return this.#mayNotBeKnown(then, asked) ? undefined : `${then.summary} There is no reason for that`;
    }
    const told = then.addresses.flatMap((a) => a.places.map((place) => lineOf(place, a))).sort();
    this.answers[then.caveats.length > 0 ? 'uncertain' : 'certain']++;
    if (then.caveats.length > 0 || told.join() === asked.listing.lines.join()) return undefined;
    // Beside the built-in controllers the history of their writes has their Endpoints too.
    const toldSlices = told.filter((line) => !line.startsWith(inEndpoints));
    if (this.#profile.isBeside && toldSlices.join() === asked.listing.lines.join()) return undefined;
    // The hub records late what the relay reads late, and does not record a state whose message the next one
    // overtakes (docs/develop/architecture.md, "Not guaranteed").
    if (this.#mayBeLate && !asked.isSettled && /was seen|no change before/.test(then.summary))
      return undefined;
    // A person may move a slice of another Service here, whose own run takes it back before the hub reads
    // this Service.
    if (asked.listing.lines.some((line) => line.includes(' and '))) return undefined;
    // A person may undo an edit before the hub reads the output: no record can show it.
    const undone = asked.later.find(({ lines }) => lines.join() === told.join());
    if (undone && !this.#wroteAt.get(asked.service)?.includes(undone.atMs)) return undefined;
    // Endpoints that the built-in controllers had left of a Service that opts in, before the hub first
    // looked.
    const slices = asked.listing.lines.filter((line) => !line.startsWith(inEndpoints));
    if (this.#profile.optIn !== 'off' && told.join() === slices.join()) return undefined;
    // Slices without an owner outlive their Service, as in a cluster without the hub.
    if (
      told.length === 0 &&
      asked.listing.writer === undefined &&
      asked.listing.lines.every((line) => !line.startsWith(inEndpoints))
    )
      return undefined;
    return `listed were ${JSON.stringify(asked.listing.lines)}, and told were ${JSON.stringify(told)}: ${then.summary}`;
  }

  /** Messages wait, or the relay, disturbed or with room for few entries, falls behind. */
  get #mayBeLate(): boolean {
    const { delayMs, relayKills, relayFaults, apiFailures, outageMs, limits } = this.#profile;
    const { maxWaiting, maxWaitingBytes } = limits.relay;
    return (
      delayMs > 4_000 ||
      relayKills + relayFaults + apiFailures + outageMs > 0 ||
      maxWaiting < ordinaryLimits.relay.maxWaiting ||
      maxWaitingBytes < ordinaryLimits.relay.maxWaitingBytes
    );
  }

  #mayNotBeKnown({ atMs, summary }: Then, asked: Asked): boolean {
    const reason = summary.replace(/^Not known: /, '');
    return this.#mayLackRecords(reason, atMs, asked) ?? this.#mayBeOthers(reason, atMs, asked);
  }

  /** Undefined: the reason is not about records. */
  #mayLackRecords(
    reason: string,
    atMs: number,
    { service, marginMs, isCutShort, isAfterMissing, isUnanswered }: Asked,
  ): boolean | undefined {
    const { goesBack, limits } = this.#profile;
    if (/^the record of the run that ended at .* is missing\.$/.test(reason))
      return mayLoseRecords(this.#profile);
    // An output that a list has shown first: its event came later, or never.
    if (/^the record of (Endpoints|EndpointSlice \S+) begins at/.test(reason) && this.#mayBeLate) return true;
    if (/^(a record|the record|no state) of (Endpoints|EndpointSlice) /.test(reason))
      return mayLoseRecords(this.#profile) || this.#mayBeLost(isCutShort) || goesBack !== 'never';
    const savesLess = limits.sync.savedBytes < ordinaryLimits.sync.savedBytes;
    if (reason.startsWith('an output of the Service is too large')) return savesLess;
    // After a lost record of the first write, whose addresses no later one has, or of the deletion, the
    // record of the next first write counts as the first.
    const mayLackFirst = mayLoseRecords(this.#profile) && (isAfterMissing || savesLess);
    if (reason.startsWith('the record begins at'))
      return (
        this.#mayBeLost(isCutShort) ||
        mayLackFirst ||
        (this.#wroteAt.get(service)?.[0] ?? Number.POSITIVE_INFINITY) >= atMs - marginMs
      );
    if (reason.startsWith('a run was cut short')) return isCutShort;
    return reason.startsWith('the last run before that did not complete') ? isUnanswered : undefined;
  }

  #mayBeLost(isCutShort: boolean): boolean {
    return isCutShort || this.#profile.crashes + this.#profile.apiFailures > 0;
  }

  /** The reason is that the hub did not write the Service, or may not have. */
  #mayBeOthers(reason: string, atMs: number, { service, listing, isCutShort }: Asked): boolean {
    const { isBeside, awayMode, optInSwitches, goesBack } = this.#profile;
    const isInShadow = this.#modes.findLast((m) => m.atMs <= atMs)?.mode === 'shadow';
    if (reason.startsWith('the cluster was in shadow mode'))
      return isBeside ? optInSwitches > 0 : awayMode === 'shadow' && isInShadow;
    const isShadow = isBeside || isInShadow;
    // A person may move a slice of the hub to a name without a Service, where it stays.
    const isOurs = listing.isOurs && listing.writer !== undefined;
    if (reason.startsWith('served by the built-in controllers since'))
      return isBeside ? !isOurs || goesBack !== 'never' : isShadow;
    if (reason.startsWith('not written since')) return this.#mayBeUnwritten(listing, isShadow);
    // A slice moved to such a name stays when the Service comes, with a selector.
    const wasMoved = this.#listings.get(service)?.some((l) => l.isOurs && l.writer === undefined) === true;
    if (reason.startsWith('no record has the hub as its writer'))
      return (
        isShadow &&
        (!isBeside || this.#mayBeLost(isCutShort) || !isOurs || (wasMoved && listing.writer === 'built-in'))
      );
    if (
      /^(the hub does not write the Service now|the Service (has neither|has no selector|is of type)|the annotation \S+ is invalid)/.test(
        reason,
      )
    )
      return isBeside || this.#listings.get(service)?.at(-1)?.writer !== 'built-in';
    return (
      reason === 'the hub has not written the Service.' &&
      (this.#mayBeLost(isCutShort) || listing.lines.length === 0 || !this.#wroteAt.has(service))
    );
  }

  #mayBeUnwritten({ isOurs, writer }: Listing, isShadow: boolean): boolean {
    // An invalid annotation leaves the Service as it was: without slices if it was an ExternalName before.
    if (writer === 'none' || writer === 'invalid-annotation' || writer === undefined) return true;
    // A Service created again with a selector in shadow mode is written by the built-in controllers.
    return this.#profile.isBeside
      ? !isOurs || this.#profile.goesBack !== 'never'
      : isShadow && writer === 'built-in';
  }
}

interface Asked {
  readonly service: string;
  readonly listing: Listing;
  readonly marginMs: number;
  /** A record has a run before it that was cut short. */
  readonly isCutShort: boolean;
  /** A record before that time is missing. */
  readonly isAfterMissing: boolean;
  /** The last run before that time did not complete. */
  readonly isUnanswered: boolean;
  /** Nothing changed for long before that time and after it. */
  readonly isSettled: boolean;
  /** The listings after that time. */
  readonly later: readonly Listing[];
}

const lineOf = (
  place: string,
  { address, pod, state }: { readonly address: string; readonly pod: string; readonly state: string },
): string => `${place} ${address} ${pod} ${state}`;
