/**
 * Deliberate differences from upstream as named rules, whose reasons are in reference/parity.md. A rule has a
 * statement, and a predicate on the vector's input and the difference. It never uses a vector's id, because
 * it must apply to new vectors.
 */
import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import {
  annotationTopologyAwareHints,
  annotationTopologyMode,
  annotationTriggerTime,
  labelEndpointsManagedBy,
  labelHeadless,
} from '#shared/kube/names.ts';
import type { Difference } from './compare.ts';
import { cameBack, remade, touched } from './touched.ts';
import type { EndpointsView, SliceGroupView, Vector } from './vector.ts';
import { canonical } from './view.ts';

export interface Rule {
  readonly name: string;
  readonly statement: string;
  readonly reason: string;
  readonly excuses: (vector: Vector, difference: Difference) => boolean;
}

export const rules: readonly Rule[] = [
  {
    name: 'redundant sync not run',
    statement: 'Q-8 with EP-59, EP-60, TA-10',
    reason:
      'upstream runs a service again when an older delayed entry fires, although nothing has changed; only where it writes in every sync does that ' +
      'show (Endpoints of a service with one of the two label keys itself, or of more than 1,000 addresses; slices with hints that are more than ' +
      'their share): the trigger time goes with the second write, or that write fails and is told',
    excuses: (vector, { what, expected, got }) => {
      if (what === 'endpointSlices')
        return differOnlyByOurTriggerTimes(
          vector,
          expected as readonly SliceGroupView[],
          got as readonly SliceGroupView[],
        );
      if (what === 'events')
        return (
          (got as readonly string[]).length === 0 &&
          (expected as readonly string[]).every((e) => isOfWrittenAlways(vector, e))
        );
      if (!what.startsWith('endpoints ') || !expected || !got) return false;
      const [e, g] = [expected as EndpointsView, got as EndpointsView];
      return (
        onlyTriggerTimeLeft(e, g) &&
        (hasReservedLabel(vector, ({ namespace, name }) => namespace === e.namespace && name === e.name) ||
          addressCount(e) >= 1000)
      );
    },
  },
  {
    name: 'both controllers run',
    statement: 'EV-11, EV-13, EV-14',
    reason:
      'upstream has a queue for each controller, so when somebody makes or deletes a slice only the one for slices runs, and when somebody deletes ' +
      'Endpoints only the other; here one wake-up stands for both, and the other one may write what upstream has not looked at yet',
    excuses: (vector, { step, what, expected, got }) => {
      const { slices, endpoints } = touched(vector, step);
      if (what === 'writes of endpoints') return total(got) - total(expected) <= slices.size;
      if (what === 'writes of endpointslices')
        return total(got) - total(expected) <= endpoints.size * slicesOfAService;
      if (what === 'events') {
        const names = [...slices, ...endpoints].map((service) => service.slice(service.indexOf('/') + 1));
        return (
          (expected as readonly string[]).length === 0 &&
          (got as readonly string[]).every((event) => names.includes(event.split(' ').at(-1) ?? ''))
        );
      }
      // Never that ours are missing.
      if (!got) return false;
      if (what.startsWith('endpoints ')) return slices.has(what.slice('endpoints '.length));
      if (what !== 'endpointSlices') return false;
      const ours = servicesOf(got as readonly SliceGroupView[]);
      return (
        canonical(servicesOf(expected as readonly SliceGroupView[])) === canonical(ours) &&
        ours.every((s) => endpoints.has(s))
      );
    },
  },
  {
    name: 'placeholder of a Service that was made again',
    statement: 'ES-49 with DF-28',
    reason:
      'before v1.38 a placeholder whose owner is a former Service of that name stays until it is garbage-collected, and the Service then has no ' +
      'slice until its next sync; here a placeholder of its own replaces it, as in v1.38',
    excuses: (vector, { step, what, expected, got }) => {
      const services = remade(vector, step);
      if (what === 'writes of endpointslices')
        return total(got) - total(expected) <= services.size * writesOfAPlaceholder;
      if (what !== 'endpointSlices') return false;
      const rest = (groups: readonly SliceGroupView[]) =>
        groups.map((group) =>
          services.has(`${group.namespace}/${group.service}`) && group.endpoints.length === 0
            ? canonical({ ...group, ownerReferences: undefined, triggerTimes: undefined })
            : canonical(group),
        );
      return (
        canonical(rest(expected as readonly SliceGroupView[]).sort()) ===
        canonical(rest(got as readonly SliceGroupView[]).sort())
      );
    },
  },
  {
    name: 'made again after a withdrawal',
    statement: 'SL-45 with ES-4',
    reason:
      'upstream leaves the slices of a service that has no selector any more, and takes them up again when it has one; those of a service that opts ' +
      'out are deleted, and made from nothing when it opts in again: the same endpoints, in slices that are packed and dated by what is there then',
    excuses: (vector, { step, what, expected, got }) => {
      const returned = cameBack(vector, step);
      if (what === 'writes of endpointslices')
        return total(got) - total(expected) <= returned.size * slicesOfAService;
      if (what !== 'endpointSlices') return false;
      const ours = got as readonly SliceGroupView[];
      return (
        servicesOf(ours).every((s) => returned.has(s)) &&
        canonical(endpointsIn(expected as readonly SliceGroupView[])) === canonical(endpointsIn(ours))
      );
    },
  },
];

const endpointsIn = (groups: readonly SliceGroupView[]): readonly string[] =>
  groups
    .flatMap(({ namespace, service, addressType, ports, endpoints }) =>
      endpoints.length === 0
        ? [[namespace, service, addressType]]
        : endpoints.map((e) => [namespace, service, addressType, ports, e]),
    )
    .map((e) => canonical(e))
    .sort();

/** One is created and one deleted, for each of two families. */
const writesOfAPlaceholder = 4;
/** More than a service has in any of the vectors that this is for. */
const slicesOfAService = 12;
const servicesOf = (groups: readonly SliceGroupView[]): readonly string[] =>
  [...new Set(groups.map(({ namespace, service }) => `${namespace}/${service}`))].sort();
const total = (writes: unknown): number =>
  Object.values((writes ?? {}) as { readonly [verb: string]: number }).reduce((a, b) => a + b, 0);

/**
 * Are they slices of services with hints, of which ours still have the trigger time and upstream's have none?
 */
function differOnlyByOurTriggerTimes(
  vector: Vector,
  expected: readonly SliceGroupView[],
  got: readonly SliceGroupView[],
): boolean {
  const rest = (groups: readonly SliceGroupView[]) =>
    groups.map(({ triggerTimes: _, ...group }) => canonical(group)).sort();
  return (
    canonical(rest(expected)) === canonical(rest(got)) &&
    expected.every((g) => g.triggerTimes.length === 0) &&
    got.every((g) =>
      hasService(
        vector,
        ({ namespace, name, annotations }) =>
          namespace === g.namespace &&
          name === g.service &&
          [annotationTopologyMode, annotationTopologyAwareHints].some((key) => key in (annotations ?? {})),
      ),
    )
  );
}

/** Returns true for an event of `compareEvents` about a failed write of Endpoints that every sync writes. */
function isOfWrittenAlways(vector: Vector, event: string): boolean {
  const [, reason, , name] = event.split(' ');
  const isFull = (e: EndpointsView): boolean => e.name === name && addressCount(e) >= 1000;
  return (
    reason === 'FailedToUpdateEndpoint' &&
    (hasReservedLabel(vector, (service) => service.name === name) ||
      vector.steps.some((s) => s.expect.endpoints.some(isFull)))
  );
}

/** Ours still has the trigger time of the change that both have seen, upstream's has none. */
function onlyTriggerTimeLeft(expected: EndpointsView, got: EndpointsView): boolean {
  const { [annotationTriggerTime]: time, ...annotations } = got.annotations as {
    readonly [key: string]: string;
  };
  return (
    time !== undefined &&
    !(annotationTriggerTime in expected.annotations) &&
    canonical({ ...got, annotations }) === canonical(expected)
  );
}

const hasReservedLabel = (vector: Vector, isMeant: (service: RawObject['metadata']) => boolean): boolean =>
  hasService(
    vector,
    (service) =>
      isMeant(service) &&
      [labelHeadless, labelEndpointsManagedBy].some((key) => key in (service.labels ?? {})),
  );

const hasService = (vector: Vector, isMeant: (service: RawObject['metadata']) => boolean): boolean =>
  [...vector.given, ...vector.steps.flatMap((s) => s.apply ?? [])].some(
    ({ kind, metadata }) => kind === 'Service' && isMeant(metadata),
  );

const addressCount = ({ subsets }: EndpointsView): number =>
  (
    subsets as readonly {
      readonly addresses?: readonly object[];
      readonly notReadyAddresses?: readonly object[];
    }[]
  ).reduce((n, s) => n + (s.addresses ?? []).length + (s.notReadyAddresses ?? []).length, 0);

/** The differences that no rule excuses, and the names of the rules that were used. */
export function applyRules(
  vector: Vector,
  differences: readonly Difference[],
): { readonly left: readonly Difference[]; readonly used: ReadonlySet<string> } {
  const used = new Set<string>();
  const left = differences.filter((d) => {
    const rule = rules.find((r) => r.excuses(vector, d));
    if (rule) used.add(rule.name);
    return !rule;
  });
  return { left, used };
}
