import type { ClusterRecord } from '#shared/clusters/record.ts';
import { concurrently } from '#shared/concurrently.ts';
import type { OutputListPart, OutputState } from '#shared/queue/events.ts';
import { namespacesInRange } from '#shared/store/namespaces.ts';
import { readObjects } from '#shared/store/objects.ts';
import { longestNamePrefix, readOddServices, readOutputHeads } from '#shared/store/outputs.ts';
import type { Table } from '#shared/store/table.ts';
import { resourceVersionOf, type Version } from '#shared/store/version.ts';
import { inRange, rangeWithin } from './key-range.ts';

/** What a part says of the outputs of some services. */
export interface Step {
  readonly entries: readonly OutputState[];
  /** The last of these services, "namespace/name": the part has been compared with everything up to it. */
  readonly upTo: string;
}

/**
 * What a part says of outputs that we know to be there, and its entries do not say by themselves: that one is gone, or that it belongs to
 * another service now (the relay remembers the former one only as long as it lives). In steps of so many services, in the order of their keys, after
 * `after`: a namespace may have more of them than one run has time for.
 */
export async function* unlistedOutputs(
  table: Table,
  { id: cluster, mode }: ClusterRecord,
  part: OutputListPart,
  version: Version,
  after: string,
  servicesPerStep: number,
): AsyncGenerator<Step> {
  const listed = new Map(part.entries.map((e) => [`${e.namespace}/${e.name}`, e]));
  const shelf = mode === 'shadow' ? 'SEEN' : 'OUT';
  const entriesOf = async (ns: string, service: string): Promise<readonly OutputState[]> => {
    const outputs = await readOutputHeads(table, { cluster, namespace: ns, name: service }, part.kind, shelf, rangeWithin(ns, part.from, part.to));
    return outputs
      .filter((o) => o.isThere && o.version < version && inRange(`${ns}/${o.name}`, part))
      .flatMap(({ name, uid }): OutputState[] => {
        const entry = listed.get(`${ns}/${name}`);
        if (!entry) return [{ namespace: ns, name, resourceVersion: resourceVersionOf(version), uid, service, deleted: true }];
        return entry.service === service || shelf === 'SEEN' ? [] : [{ ...entry, formerService: service }];
      });
  };
  for (const { name: ns } of await namespacesInRange({ table, cluster }, 'Service', part)) {
    const done = after.startsWith(`${ns}/`) ? after.slice(ns.length + 1) : '';
    if (done === '' && `${ns}/` < after) continue;
    const services = (await mayOwn(table, cluster, ns, part, done)).filter((name) => name > done);
    for (let i = 0; i < services.length; i += servicesPerStep) {
      const some = services.slice(i, i + servicesPerStep);
      const entries = await concurrently(16, some, (service) => entriesOf(ns, service));
      yield { entries: entries.flat(), upTo: `${ns}/${some.at(-1)}` };
    }
  }
}

/**
 * The names of services of which an output may lie in the part, in order. Endpoints have their service's name. A slice's begins with it, by generateName;
 * services with a slice that was named otherwise are remembered (`readOddServices`). So a page of a namespace with 20,000 services looks at some hundred.
 */
async function mayOwn(table: Table, cluster: string, namespace: string, part: OutputListPart, done: string): Promise<readonly string[]> {
  const { from = '', to } = rangeWithin(namespace, part.from, part.to);
  const isSlice = part.kind === 'EndpointSlice';
  const first = isSlice ? from.slice(0, longestNamePrefix) : from;
  // Of a long name only the beginning is in a slice's: services behind the end may have slices before it.
  const last = isSlice && to !== undefined && to.length >= longestNamePrefix ? `${to.slice(0, longestNamePrefix)}\u{10FFFF}` : to;
  const range = {
    ...(first && { from: done > first ? done : first }),
    ...(!first && done && { from: done }),
    ...(last !== undefined && { to: last }),
  };
  const held = (await readObjects({ table, cluster }, 'Service', namespace, range)).map((r) => r.name);
  if (!isSlice) return held;
  // "a" and "a-b" come before the slice "a-b-xyz", and may have slices behind it.
  const before = [...from.matchAll(/-/g)].map((dash) => from.slice(0, dash.index)).concat(first);
  const names = new Set([...held, ...before, ...(await readOddServices(table, cluster, namespace))]);
  return [...names].filter((name) => name !== '').sort();
}
