/**
 * Finds saved outputs without an entry in a page of a list. They are deleted, or belong to another service
 * now.
 */

import type { ClusterRecord } from '#shared/clusters/record.ts';
import { isObserved, writesOptIn } from '#shared/clusters/writer/mode.ts';
import { allToEnd, concurrently } from '#shared/concurrently.ts';
import type { OutputListPart } from '#shared/queue/events.ts';
import type { OutputEntry } from '#shared/queue/messages.ts';
import type { ClusterStore } from '#shared/store/cluster-store.ts';
import { namespacesInRange } from '#shared/store/inputs/namespaces.ts';
import { objectNamesIn } from '#shared/store/inputs/object-keys.ts';
import {
  maxNamePrefixLength,
  type OutputSource,
  readOddServices,
  readOutputHeads,
} from '#shared/store/outputs/outputs.ts';
import { listed } from '#shared/store/pages.ts';
import { resourceVersionOf, type Version } from '#shared/store/version.ts';
import type { MessageContext } from '../batch/batch-context.ts';
import { inRange, rangeWithin } from '../batch/key-range.ts';
import { isTheirs } from './observed-outputs.ts';

/** The states that a page implies for the outputs of some services. */
export interface ImpliedStates {
  readonly entries: readonly OutputEntry[];
  /**
   * The last of these services, "namespace/name": the part has been compared with the saved outputs of all
   * services up to it.
   */
  readonly upTo: string;
}

/**
 * Yields the changes that a page implies for saved outputs: deletions, and moves to another service. The page
 * does not name the former service, because the relay remembers it only while it runs. Services come in the
 * order of their keys, some at a time. If a run has too little time for a namespace, the next run begins
 * after `part.progress.services`.
 */
export async function* unlistedOutputs(
  context: MessageContext,
  part: OutputListPart,
  version: Version,
): AsyncGenerator<ImpliedStates> {
  const { deps, store } = context;
  const sources = sourcesOf(context.cluster, part);
  if (sources.length === 0) return;
  const { outputsPerStep } = deps.limits.ingest;
  const after = part.progress?.services ?? '';
  const impliedBy = comparisonOf(context, part, version, sources);
  for (const { name: namespace } of await namespacesInRange(store, 'Service', part)) {
    context.checkTime();
    const done = after.startsWith(`${namespace}/`) ? after.slice(namespace.length + 1) : '';
    if (done === '' && `${namespace}/` < after) continue;
    const services = (await mayOwn(store, namespace, part, done)).filter((name) => name > done);
    for (let i = 0; i < services.length; i += outputsPerStep) {
      const some = services.slice(i, i + outputsPerStep);
      const entries = await concurrently(16, some, (service) => impliedBy(namespace, service));
      yield { entries: entries.flat(), upTo: `${namespace}/${some.at(-1)}` };
    }
  }
}

/** Returns a function that compares the page with a service's saved outputs in its key range. */
function comparisonOf(
  { store, cluster, checkTime }: MessageContext,
  part: OutputListPart,
  version: Version,
  sources: readonly OutputSource[],
) {
  const listed = new Map(part.entries.map((e) => [`${e.namespace}/${e.name}`, e]));
  const impliedIn = async (
    source: OutputSource,
    namespace: string,
    service: string,
  ): Promise<readonly OutputEntry[]> => {
    const which = { kind: part.kind, range: rangeWithin(namespace, part.from, part.to) };
    const key = { cluster: cluster.id, namespace, name: service };
    const saved = await readOutputHeads(store.table, key, which, source);
    return saved
      .filter(
        (o) =>
          o.isThere &&
          o.version < version &&
          inRange(`${namespace}/${o.name}`, part) &&
          !part.omitted.has(`${namespace}/${o.name}`),
      )
      .flatMap(({ name, uid }): OutputEntry[] => {
        const entry = listed.get(`${namespace}/${name}`);
        const isGone =
          !entry || (source === 'observed' && !(entry.service === service && isTheirs(part.kind, entry)));
        if (isGone)
          return [
            { namespace, name, resourceVersion: resourceVersionOf(version), uid, service, deleted: true },
          ];
        return entry.service === service ? [] : [{ ...entry, formerService: service }];
      });
  };
  return async (namespace: string, service: string): Promise<readonly OutputEntry[]> => {
    checkTime();
    return (await allToEnd(sources.map((source) => impliedIn(source, namespace, service)))).flat();
  };
}

/** In shadow mode the slices of Services that opt in are ours, and the others the cluster's own. */
function sourcesOf(cluster: ClusterRecord, { kind }: OutputListPart): readonly OutputSource[] {
  if (!isObserved(cluster)) return ['written'];
  const hasWritten = cluster.modeSwitch.count > 0 || (kind === 'EndpointSlice' && writesOptIn(cluster));
  return hasWritten ? ['observed', 'written'] : ['observed'];
}

/**
 * Returns the names of services with possible outputs in the page, in order. Endpoints have their service's
 * name. A slice's generated name begins with it, and services with a slice of another name are remembered
 * (`readOddServices`). A page of a namespace with 20,000 services therefore reads some hundred of them.
 */
async function mayOwn(
  store: ClusterStore,
  namespace: string,
  part: OutputListPart,
  done: string,
): Promise<readonly string[]> {
  const { from = '', to } = rangeWithin(namespace, part.from, part.to);
  const isSlice = part.kind === 'EndpointSlice';
  const first = isSlice ? from.slice(0, maxNamePrefixLength) : from;
  // A slice's name contains only the beginning of a long service name, so services after the end may have
  // slices before it.
  const last =
    isSlice && to !== undefined && to.length >= maxNamePrefixLength
      ? `${to.slice(0, maxNamePrefixLength)}\u{10FFFF}`
      : to;
  const range = {
    ...(first && { from: done > first ? done : first }),
    ...(!first && done && { from: done }),
    ...(last !== undefined && { to: last }),
  };
  const held = (await listed(objectNamesIn(store, 'Service', namespace, range))).map(({ name }) => name);
  if (!isSlice) return held;
  // "a" and "a-b" come before the slice "a-b-xyz", and may have slices behind it.
  const before = [...from.matchAll(/-/g)].map((dash) => from.slice(0, dash.index)).concat(first);
  const names = new Set([...held, ...before, ...(await readOddServices(store, namespace))]);
  return [...names].filter((name) => name !== '').sort();
}
