/** Changes of the outputs in a vector by other clients than the two controllers. */
import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import { annotationSelector } from '#shared/kube/names.ts';
import type { Vector } from './vector.ts';

export interface Touched {
  /** Services, as `namespace/name`, whose slices another client created, changed or deleted. */
  readonly slices: ReadonlySet<string>;
  /** Services whose Endpoints another client deleted. */
  readonly endpoints: ReadonlySet<string>;
}

function touchedIn(vector: Vector, step: number): Touched {
  const { apply = [], delete: gone = [] } = vector.steps[step] ?? {};
  const isSlice = ({ kind }: { readonly kind: string }): boolean => kind === 'EndpointSlice';
  const earlier = [...vector.given, ...vector.steps.slice(0, step).flatMap((s) => s.apply ?? [])].filter(
    isSlice,
  );
  const deleted = earlier.filter(({ metadata: { namespace, name } }) =>
    gone.some((d) => isSlice(d) && d.namespace === namespace && d.name === name),
  );
  return {
    slices: new Set(
      [...apply.filter(isSlice), ...deleted].map(
        ({ metadata }) => `${metadata.namespace}/${metadata.labels?.['kubernetes.io/service-name']}`,
      ),
    ),
    endpoints: new Set(gone.filter((d) => d.kind === 'Endpoints').map((d) => `${d.namespace}/${d.name}`)),
  };
}

/** Up to that step: what differs stays until the next write. */
export function touched(vector: Vector, step: number): Touched {
  const each = Array.from({ length: step + 1 }, (_, i) => touchedIn(vector, i));
  return {
    slices: new Set(each.flatMap((t) => [...t.slices])),
    endpoints: new Set(each.flatMap((t) => [...t.endpoints])),
  };
}

/** Does the Service give its selector by annotation (opt-in.ts)? */
export const isOptedIn = ({ metadata, spec }: RawObject): boolean =>
  metadata.annotations?.[annotationSelector] !== undefined && spec?.['type'] !== 'ExternalName';

/** The states of each Service up to that step. */
function statesOf(vector: Vector, step: number): ReadonlyMap<string, readonly RawObject[]> {
  const services = [...vector.given, ...vector.steps.slice(0, step + 1).flatMap((s) => s.apply ?? [])].filter(
    (o) => o.kind === 'Service',
  );
  return Map.groupBy(services, ({ metadata }) => `${metadata.namespace}/${metadata.name}`);
}

/** Services that were deleted and made again up to that step. */
export const remade = (vector: Vector, step: number): ReadonlySet<string> =>
  new Set(
    [...statesOf(vector, step)]
      .filter(([, of]) => new Set(of.map(({ metadata }) => metadata.uid)).size > 1)
      .map(([key]) => key),
  );

/** Services that have opted in, out and in again up to that step. */
export function cameBack(vector: Vector, step: number): ReadonlySet<string> {
  const states = statesOf(vector, step);
  return new Set(
    [...states]
      .filter(
        ([, [...of]]) =>
          of.findIndex((o) => !isOptedIn(o)) < of.findLastIndex(isOptedIn) && !of.every(isOptedIn),
      )
      .map(([key]) => key),
  );
}
