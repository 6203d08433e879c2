/** The part of a Service in who writes its endpoints. The cluster's part is shared/clusters/writer-for.ts. */
import { type Labels, sameLabels } from '#shared/kube/labels.ts';
import { annotationSelector } from '#shared/kube/names.ts';
import type { Service } from '#shared/kube/types.ts';
import { parseSelector } from './selector.ts';

/** Of a cluster: `shadow` computes what services that opt in would get, and writes nothing. */
export type OptIn = 'off' | 'shadow' | 'active';
export const optIns: readonly OptIn[] = ['off', 'shadow', 'active'];
export const isOptIn = (text: string | undefined): text is OptIn => optIns.some((o) => o === text);

export type Writer =
  /** spec.selector: the controllers that Kubernetes has for it, or we in their place. `annotated`: it opts in once the selector is gone. */
  | { readonly by: 'built-in'; readonly reason: string; readonly annotated?: Labels }
  /** The annotation: we, beside them. */
  | { readonly by: 'opt-in'; readonly reason: string; readonly selector: Labels }
  /** The annotation cannot be followed: the slices of the Service stay as they are. */
  | { readonly by: 'invalid-annotation'; readonly reason: string }
  /** Neither: what we have written before is withdrawn. */
  | { readonly by: 'none'; readonly reason: string };

/** By the Service alone. */
export function writerOf(service: Service): Writer {
  const text = service.metadata.annotations?.[annotationSelector];
  const { selector, type } = service.spec ?? {};
  if (type === 'ExternalName') return { by: 'none', reason: 'the Service is of type ExternalName, which has no endpoints' };
  const parsed = text === undefined ? undefined : parseSelector(text);
  if (selector) {
    const both = `the Service has a selector of its own, so the annotation ${annotationSelector} does not count yet`;
    if (!parsed) return { by: 'built-in', reason: 'the Service has a selector' };
    if (!parsed.selector) return { by: 'built-in', reason: `${both}; nor could it be followed: ${parsed.error}` };
    return { by: 'built-in', reason: both, annotated: parsed.selector };
  }
  if (!parsed) return { by: 'none', reason: `the Service has neither a selector nor the annotation ${annotationSelector}` };
  if (!parsed.selector) return { by: 'invalid-annotation', reason: `the annotation ${annotationSelector} cannot be followed: ${parsed.error}` };
  return { by: 'opt-in', reason: `the Service has no selector, and the annotation ${annotationSelector}`, selector: parsed.selector };
}

/** A cluster's switch for Services that opt in. */
export interface OptInSwitch {
  readonly optIn: OptIn;
  /** The slices of Services that opt in are being deleted. */
  readonly withdrawsOptIn: boolean;
}

/** The Service as runs of the cluster use it. */
export const withOptInSelectorFor = (service: Service, { optIn, withdrawsOptIn }: OptInSwitch): Service =>
  withOptInSelector(service, withdrawsOptIn ? 'off' : optIn);

/** The Service as both controllers and the rules of membership use it: a Service that opts in gets the selector of its annotation. */
export function withOptInSelector(service: Service, optIn: OptIn): Service {
  if (optIn === 'off') return service;
  const writer = writerOf(service);
  return writer.by === 'opt-in' ? { ...service, spec: { ...service.spec, selector: writer.selector } } : service;
}

/** The Service with the selector of its annotation in place of its own; undefined if they are the same. Shadow mode compares the slices of both. */
export function withAnnotatedSelector(service: Service): Service | undefined {
  const writer = writerOf(service);
  if (writer.by !== 'built-in' || !writer.annotated || sameLabels(writer.annotated, service.spec?.selector)) return undefined;
  return { ...service, spec: { ...service.spec, selector: writer.annotated } };
}
