/**
 * Hands Services that opted in back to the built-in controllers through the cluster's API alone: no hub, no
 * table, no AWS. A Service gets the selector of its annotation, and the hub's slices go when those of the
 * built-in controllers serve every address that a ready pod still has. A hub that returns finds the Service
 * with its selector, and has nothing to do.
 */
import { isConflict } from '#shared/clusters/api/errors.ts';
import type { ClusterApi } from '#shared/clusters/api/port.ts';
import {
  handOver,
  isOptInSlice,
  type ServedAddress,
  servedBy,
} from '#shared/controllers/opt-in/hand-over.ts';
import { parseSelector, withoutEquivalent } from '#shared/controllers/opt-in/selector.ts';
import { type Writer, writerOf } from '#shared/controllers/opt-in/writer.ts';
import { annotationHandedBack, annotationSelector, labelServiceName } from '#shared/kube/names.ts';
import { isPodReady } from '#shared/kube/pods.ts';
import { isSetBased, sameSelectors, selectorText } from '#shared/kube/selectors/label-selector.ts';
import type { EndpointSlice, Service } from '#shared/kube/types.ts';

/** What is done to one Service. */
export interface Step {
  readonly service: Service;
  /** JSON merge patch, without the resourceVersion. Undefined: an earlier hand-back has written it. */
  readonly patch:
    | { readonly metadata: object; readonly spec: { readonly selector: object | null } }
    | undefined;
  readonly text: string;
}

export interface Plan {
  readonly steps: readonly Step[];
  /** Services that a person has to look at first, each with its reason. */
  readonly refused: readonly { readonly name: string; readonly reason: string }[];
}

export interface HandBackDeps {
  readonly api: ClusterApi;
  readonly now: () => number;
  readonly pause: (ms: number) => Promise<unknown>;
  /** Time for the built-in controllers to serve a Service. */
  readonly waitMs: number;
}

/** Undefined: done. Otherwise what a person has to know; the slices of the hub are then unchanged. */
export type Trouble = string | undefined;

const lookEveryMs = 500;

export const nameOf = ({ metadata: { namespace, name } }: Service): string => `${namespace}/${name}`;

/**
 * Pure: which Services are handed back. `at`: the time for the annotation. `sliced`: names of Services that
 * have slices of the hub: an earlier hand-back of them is not done.
 */
export function planHandBack(
  services: readonly Service[],
  at: Date,
  sliced: ReadonlySet<string> = new Set(),
): Plan {
  const writers = services.map((service) => ({ service, writer: writerOf(service) }));
  return {
    steps: writers.flatMap(({ service, writer }): readonly Step[] => {
      if (isHandedBack(service) && sliced.has(nameOf(service)))
        return [{ service, patch: undefined, text: 'has its selector, and slices of the hub besides' }];
      if (writer.by !== 'opt-in' || isSetBased(writer.selector)) return [];
      const patch = {
        metadata: { annotations: { [annotationHandedBack]: at.toISOString() } },
        spec: { selector: writer.selector },
      };
      return [{ service, patch, text: `gets the selector ${selectorText(writer.selector)}` }];
    }),
    refused: writers.flatMap(({ service, writer }) => {
      const reason = whyNotHandedBack(writer);
      return reason === undefined ? [] : [{ name: nameOf(service), reason }];
    }),
  };
}

const isHandedBack = ({ metadata: { annotations }, spec }: Service): boolean =>
  annotations?.[annotationHandedBack] !== undefined && spec?.selector != null;

function whyNotHandedBack(writer: Writer): string | undefined {
  if (writer.by === 'invalid-annotation') return writer.reason;
  return writer.by === 'opt-in' && isSetBased(writer.selector)
    ? `${selectorText(writer.selector)}: ${withoutEquivalent}`
    : undefined;
}

/** Pure: which Services lose the selector that they got from a hand-back. */
export function planUndo(services: readonly Service[]): Plan {
  const reasons = services
    .filter(isHandedBack)
    .map((service) => ({ service, reason: whyNotUndone(service) }));
  return {
    steps: reasons.flatMap(({ service, reason }) =>
      reason !== undefined
        ? []
        : [
            {
              service,
              patch: {
                metadata: { annotations: { [annotationHandedBack]: null } },
                spec: { selector: null },
              },
              text: 'loses its selector: the hub writes it again',
            },
          ],
    ),
    refused: reasons.flatMap(({ service, reason }) =>
      reason === undefined ? [] : [{ name: nameOf(service), reason }],
    ),
  };
}

function whyNotUndone({ metadata: { annotations }, spec }: Service): string | undefined {
  const text = annotations?.[annotationSelector];
  if (text === undefined)
    return `the annotation ${annotationSelector} is gone: without its selector nobody would write the Service`;
  const { selector, error } = parseSelector(text);
  if (!selector) return `the annotation ${annotationSelector} is invalid: ${error}`;
  return sameSelectors(selector, spec?.selector)
    ? undefined
    : `its selector is ${selectorText(spec?.selector ?? {})}, and no longer the annotation's ${text}`;
}

/** Returns who applies the Service again, by the marks of Argo CD, Flux and Helm, or undefined. */
export function appliedBy({ metadata: { labels = {}, annotations = {} } }: Service): string | undefined {
  const argo = annotations['argocd.argoproj.io/tracking-id'] ?? labels['argocd.argoproj.io/instance'];
  if (argo !== undefined) return `Argo CD (${argo.split(':')[0]})`;
  const flux = labels['kustomize.toolkit.fluxcd.io/name'] ?? labels['helm.toolkit.fluxcd.io/name'];
  if (flux !== undefined) return `Flux (${flux})`;
  const helm = annotations['meta.helm.sh/release-name'];
  return helm === undefined ? undefined : `Helm (release ${helm})`;
}

/**
 * Writes the selector if the Service is as it was read, and waits until the hub's slices are deleted. A
 * change of the Service meanwhile rejects with a conflict, and changes nothing.
 */
export async function handBack(deps: HandBackDeps, { service, patch }: Step): Promise<Trouble> {
  await applyPatch(deps.api, { service, patch });
  const end = deps.now() + deps.waitMs;
  for (;;) {
    const missing = await deleteServed(deps.api, service);
    if (missing === undefined) return undefined;
    if (deps.now() >= end)
      return `has its selector, but after ${deps.waitMs / 1000} s the built-in controllers do not serve ${missing}: the slices of the hub stay. Repeat the command to go on`;
    await deps.pause(lookEveryMs);
  }
}

export const undo = ({ api }: Pick<HandBackDeps, 'api'>, step: Step): Promise<void> => applyPatch(api, step);

async function applyPatch(
  api: ClusterApi,
  { service, patch }: Pick<Step, 'service' | 'patch'>,
): Promise<void> {
  if (!patch) return;
  const { namespace = '', name, resourceVersion } = service.metadata;
  await api.patch('Service', namespace, name, {
    ...patch,
    metadata: { ...patch.metadata, resourceVersion },
  });
}

/**
 * Deletes the slices of the hub if the built-in ones serve everything. Resolves to a text of what they do not
 * serve yet, or to undefined.
 */
async function deleteServed(api: ClusterApi, { metadata, spec }: Service): Promise<string | undefined> {
  const { namespace = '', name } = metadata;
  const { items: slices } = await api.list('EndpointSlice', namespace, {
    labels: { [labelServiceName]: name },
  });
  const ours = slices.filter(isOptInSlice);
  if (ours.length === 0) return undefined;
  const ready = await stillReady(api, namespace, ours, spec?.publishNotReadyAddresses ?? false);
  const { isWaiting, withdrawn } = handOver({ writer: 'built-in', slices, endpoints: undefined, ready });
  if (isWaiting) return ready.length === 0 ? 'it yet' : `all of its ${ready.length} ready endpoints yet`;
  try {
    for (const { metadata: m } of withdrawn) await deleteAsRead(api, m);
    return undefined;
  } catch (error) {
    // A hub that is back may have changed or deleted it: look again.
    if (isConflict(error)) return 'a slice that has just changed';
    throw error;
  }
}

const deleteAsRead = (
  api: ClusterApi,
  { namespace = '', name, uid, resourceVersion }: EndpointSlice['metadata'],
) =>
  api.delete('EndpointSlice', namespace, name, {
    ...(uid !== undefined && { uid }),
    ...(resourceVersion !== undefined && { resourceVersion }),
  });

/**
 * The ready addresses of the hub's slices whose pod is there and ready now: while the hub was away, pods may
 * have gone, and nobody will serve these.
 */
async function stillReady(
  api: ClusterApi,
  namespace: string,
  ours: readonly EndpointSlice[],
  publishesNotReady: boolean,
): Promise<readonly ServedAddress[]> {
  const { items } = await api.list('Pod', namespace, {
    keep: (pod) => ({
      uid: pod.metadata.uid,
      isReady: !pod.metadata.deletionTimestamp && (publishesNotReady || isPodReady(pod)),
    }),
  });
  const there = new Set(items.flatMap(({ uid, isReady }) => (isReady ? [uid] : [])));
  return servedBy(ours).filter(({ uid }) => there.has(uid));
}
