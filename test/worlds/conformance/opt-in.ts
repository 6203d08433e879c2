/**
 * Converts a vector so every Service with a selector opts in by an annotation with that selector
 * (docs/use/opt-in.md). Its slices must equal upstream's for the selector, except for managed-by. Endpoints
 * neither exist nor are written.
 */
import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import { parseSelector } from '#shared/controllers/opt-in/selector.ts';
import type { Labels } from '#shared/kube/labels.ts';
import {
  annotationSelector,
  labelServiceName,
  labelSliceManagedBy,
  optInManagedBy,
  slicesManagedBy,
} from '#shared/kube/names.ts';
import type { Expectation, SliceGroupView, Step, Vector } from './vector.ts';
import { sliceGroups } from './view.ts';

export type OptedIn =
  | { readonly vector: Vector; readonly skipped?: never }
  | { readonly vector?: never; readonly skipped: string };

export function optedIn(vector: Vector): OptedIn {
  const selectors = [...vector.given, ...vector.steps.flatMap((s) => s.apply ?? [])].flatMap((o) => {
    const selector = selectorOf(o);
    return selector ? [{ service: keyOf(o.metadata), selector }] : [];
  });
  if (selectors.length === 0) return { skipped: 'no service has a selector' };
  if (selectors.some(({ selector }) => parseSelector(textOf(selector)).error !== undefined))
    return { skipped: 'a selector is more than the annotation can say' };
  const services = new Set(selectors.map(({ service }) => service));
  const withServices = (objects: readonly RawObject[]): readonly RawObject[] =>
    objects.filter(isNoEndpoints).map((o) => rewritten(o, services));

  const given = withServices(vector.given);
  const present = new Map(given.map((o) => [idOf(o), o]));
  const lost = new Set<string>();
  const steps = vector.steps.map((step): Step => {
    const apply = withServices(step.apply ?? []);
    const gone = (step.delete ?? []).filter(isNoEndpoints);
    for (const o of apply) present.set(idOf(o), o);
    for (const { kind, namespace, name } of gone)
      present.delete(idOf({ kind, metadata: { namespace, name } }));
    const without = new Set(
      [...present.values()]
        .filter((o) => o.kind === 'Service' && o.spec?.['type'] === 'ExternalName')
        .map((o) => keyOf(o.metadata)),
    );
    const withdrawn = [...present.values()].filter((o) => isOurs(o) && without.has(serviceOf(o)));
    for (const slice of withdrawn) if (!hasFinalizers(slice)) lost.add(keyOf(slice.metadata));
    const held = sliceGroups({ list: () => withdrawn.filter(hasFinalizers) }, vector.hintsByCount === true);
    return {
      ...step,
      apply,
      delete: gone,
      expect: withoutEndpoints(withoutSlices(step.expect, { services, without, held, lost }), services),
    };
  });
  return { vector: { ...vector, given, steps } };
}

interface Withdrawal {
  /** Services that opt in at some time, and services of type ExternalName now. */
  readonly services: ReadonlySet<string>;
  readonly without: ReadonlySet<string>;
  /** Deleted slices of these services that still exist, and names of removed slices. */
  readonly held: readonly SliceGroupView[];
  readonly lost: ReadonlySet<string>;
}

/**
 * Ours of a service that becomes an ExternalName are deleted (SL-45), and upstream leaves them (ES-4, ES-5).
 */
function withoutSlices(upstream: Expectation, { services, without, held, lost }: Withdrawal): Expectation {
  const gone = upstream.endpointSlices.filter(
    (group) => isBuiltInOf(group, services) && without.has(serviceIn(group)),
  );
  const names = new Set([...lost].map((key) => key.slice(key.indexOf('/') + 1)));
  return {
    ...upstream,
    endpointSlices: [...upstream.endpointSlices.filter((group) => !gone.includes(group)), ...held],
    keptSlices: upstream.keptSlices.filter((kept) => !(kept.includes('/') ? lost : names).has(kept)),
    writes: {
      ...upstream.writes,
      endpointslices: {
        ...upstream.writes['endpointslices'],
        withdraw: gone.reduce((n, { sizes }) => n + sizes.length, 0),
      },
    },
  };
}

function withoutEndpoints(upstream: Expectation, services: ReadonlySet<string>): Expectation {
  const { endpoints: _, ...writes } = upstream.writes;
  const ours = (group: SliceGroupView): SliceGroupView => ({
    ...group,
    labels: { ...group.labels, [labelSliceManagedBy]: optInManagedBy },
  });
  return {
    ...upstream,
    endpoints: [],
    endpointSlices: upstream.endpointSlices.map((group) =>
      isBuiltInOf(group, services) ? ours(group) : group,
    ),
    writes,
    events: upstream.events.filter(({ kind }) => kind !== 'Endpoints'),
  };
}

const serviceIn = ({ namespace, service }: SliceGroupView): string => keyOf({ namespace, name: service });
const isBuiltInOf = (group: SliceGroupView, services: ReadonlySet<string>): boolean =>
  (group.labels as Labels)[labelSliceManagedBy] === slicesManagedBy && services.has(serviceIn(group));
const keyOf = ({
  namespace = '',
  name,
}: {
  readonly namespace?: string | undefined;
  readonly name: string;
}): string => `${namespace}/${name}`;
const idOf = ({
  kind,
  metadata,
}: Pick<RawObject, 'kind'> & {
  readonly metadata: { namespace?: string | undefined; name: string };
}): string => `${kind} ${keyOf(metadata)}`;
const isNoEndpoints = ({ kind }: { readonly kind?: string | undefined }): boolean => kind !== 'Endpoints';
const textOf = (selector: Labels): string =>
  Object.entries(selector)
    .map(([key, value]) => `${key}=${value}`)
    .join();

/** An empty selector is stored as none. */
function selectorOf({ kind, spec }: RawObject): Labels | undefined {
  const selector = spec?.['selector'] as Labels | null | undefined;
  return kind === 'Service' && selector && Object.keys(selector).length > 0 ? selector : undefined;
}

function rewritten(object: RawObject, services: ReadonlySet<string>): RawObject {
  const selector = selectorOf(object);
  if (selector) return annotated(object, selector);
  if (!isBuiltIn(object) || !services.has(serviceOf(object))) return object;
  return {
    ...object,
    metadata: {
      ...object.metadata,
      labels: { ...object.metadata.labels, [labelSliceManagedBy]: optInManagedBy },
    },
  };
}

/**
 * Everything else is as it was: without a selector the API server would give a headless Service both families
 * (SL-2).
 */
function annotated(service: RawObject, selector: Labels): RawObject {
  const { selector: _, ...spec } = service.spec ?? {};
  const isOfOneFamily = spec['clusterIP'] === 'None' && !spec['ipFamilies'] && !spec['ipFamilyPolicy'];
  return {
    ...service,
    metadata: {
      ...service.metadata,
      annotations: { ...service.metadata.annotations, [annotationSelector]: textOf(selector) },
    },
    spec: { ...spec, ...(isOfOneFamily && { ipFamilyPolicy: 'SingleStack' }) },
  };
}

const isBuiltIn = ({ kind, metadata }: RawObject): boolean =>
  kind === 'EndpointSlice' && metadata.labels?.[labelSliceManagedBy] === slicesManagedBy;
const serviceOf = ({ metadata }: RawObject): string =>
  keyOf({ namespace: metadata.namespace, name: metadata.labels?.[labelServiceName] ?? '' });
const isOurs = ({ kind, metadata }: RawObject): boolean =>
  kind === 'EndpointSlice' && metadata.labels?.[labelSliceManagedBy] === optInManagedBy;
const hasFinalizers = ({ metadata }: RawObject): boolean =>
  (metadata.finalizers as readonly string[] | undefined)?.length !== undefined;
