/**
 * The writer of a Service's endpoints by the Service itself. shared/clusters/writer/writer-for.ts adds the cluster's
 * switches.
 */

import { annotationSelector, importManagedBy, labelMcsService } from '#shared/kube/names.ts';
import { type Selector, sameSelectors } from '#shared/kube/selectors/label-selector.ts';
import type { Service } from '#shared/kube/types.ts';
import { parseSelector } from './selector.ts';

/** A cluster's switch. `shadow` computes the slices of Services that opt in without writing them. */
export type OptIn = 'off' | 'shadow' | 'active';
export const optIns: readonly OptIn[] = ['off', 'shadow', 'active'];
export const isOptIn = (text: string | undefined): text is OptIn => optIns.some((o) => o === text);

export type Writer =
  /**
   * The Service has spec.selector: Kubernetes' own controllers write it, or the hub in their place.
   * `annotated`: it opts in once the selector is removed.
   */
  | { readonly by: 'built-in'; readonly reason: string; readonly annotated?: Selector }
  /** The Service has the annotation only: the hub writes it beside the built-in controllers. */
  | { readonly by: 'opt-in'; readonly reason: string; readonly selector: Selector }
  /** The annotation is invalid: the slices of the Service stay as they are. */
  | { readonly by: 'invalid-annotation'; readonly reason: string }
  /**
   * The Service has neither. If a client that does not know the annotation has removed it, the slices of the
   * hub stay as they are.
   */
  | { readonly by: 'no-annotation'; readonly reason: string }
  /** An ExternalName, or the annotation is empty: the hub withdraws its slices. */
  | { readonly by: 'none'; readonly reason: string };

/** Returns the writer by the Service alone. */
export function writerOf(service: Service): Writer {
  const text = service.metadata.annotations?.[annotationSelector];
  const { selector, type } = service.spec ?? {};
  if (type === 'ExternalName')
    return { by: 'none', reason: 'the Service is of type ExternalName, which has no endpoints' };
  if (isDerivedByHub(service))
    return {
      by: 'none',
      reason: 'the Service is derived from a ServiceImport, so only exports give it endpoints',
    };
  return selector ? writerBesideSelector(text) : writerByAnnotation(text);
}

function writerBesideSelector(text: string | undefined): Writer {
  if (text === undefined) return { by: 'built-in', reason: 'the Service has a selector' };
  const both = `the Service has a selector of its own, so the annotation ${annotationSelector} does not count yet`;
  const parsed = parseSelector(text);
  if (!parsed.selector) return { by: 'built-in', reason: `${both}; it is also invalid: ${parsed.error}` };
  return { by: 'built-in', reason: both, annotated: parsed.selector };
}

function writerByAnnotation(text: string | undefined): Writer {
  if (text === undefined)
    return {
      by: 'no-annotation',
      reason: `the Service has neither a selector nor the annotation ${annotationSelector}`,
    };
  if (text.trim() === '')
    return {
      by: 'none',
      reason: `the Service has no selector, and the annotation ${annotationSelector} is empty`,
    };
  const parsed = parseSelector(text);
  if (!parsed.selector)
    return {
      by: 'invalid-annotation',
      reason: `the annotation ${annotationSelector} is invalid: ${parsed.error}`,
    };
  return {
    by: 'opt-in',
    reason: `the Service has no selector, and the annotation ${annotationSelector}`,
    selector: parsed.selector,
  };
}

/**
 * The hub takes a selector or an annotation off such a Service (shared/clusterset/imports/derived-service.ts):
 * neither counts until then.
 */
const isDerivedByHub = ({ metadata: { labels } }: Service): boolean =>
  labels?.[labelMcsService] !== undefined && labels[importManagedBy.key] === importManagedBy.value;

/** A cluster's switch for Services that opt in. */
export interface OptInSwitch {
  readonly optIn: OptIn;
  /** The slices of Services that opt in are being deleted. */
  readonly withdrawsOptIn: boolean;
}

/** Returns the Service as runs of the cluster use it. */
export const withOptInSelectorFor = (service: Service, { optIn, withdrawsOptIn }: OptInSwitch): Service =>
  withOptInSelector(service, withdrawsOptIn ? 'off' : optIn);

/**
 * Returns the Service as both controllers and the rules of membership use it: a Service that opts in gets the
 * selector of its annotation.
 */
export function withOptInSelector(service: Service, optIn: OptIn): Service {
  if (optIn === 'off') return service;
  const writer = writerOf(service);
  return writer.by === 'opt-in'
    ? { ...service, spec: { ...service.spec, selector: writer.selector } }
    : service;
}

/**
 * Returns the Service with the selector of its annotation, or undefined if it equals its own. Shadow mode
 * compares the slices of both.
 */
export function withAnnotatedSelector(service: Service): Service | undefined {
  const writer = writerOf(service);
  if (
    writer.by !== 'built-in' ||
    !writer.annotated ||
    sameSelectors(writer.annotated, service.spec?.selector)
  )
    return undefined;
  return { ...service, spec: { ...service.spec, selector: writer.annotated } };
}
