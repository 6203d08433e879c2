import { canonicalIP } from './ip.ts';
import type { AddressType, Service } from './types.ts';

/**
 * Returns the value of the headless label. A service without any cluster IP counts as headless too (SH-10).
 */
export function isHeadless(service: Service): boolean {
  return !service.spec?.clusterIP || hasClusterIPNone(service);
}

/** Asked for, in so many words: the rules about services without ports look at this (EP-14, ES-18). */
export function hasClusterIPNone(service: Service): boolean {
  return service.spec?.clusterIP === 'None';
}

/**
 * The family of the cluster IP, for a service without ipFamilies (API-8). Undefined for a service without a
 * cluster IP.
 */
export function clusterIPFamily(service: Service): AddressType | undefined {
  const clusterIP = service.spec?.clusterIP;
  if (!clusterIP || clusterIP === 'None') return undefined;
  return canonicalIP(clusterIP)?.family ?? 'IPv4';
}

/**
 * The API server keeps the endpoints of its own Service. A Service of that name with a selector is a mistake,
 * or a lie of a relay.
 */
export const isApiServersOwn = (namespace: string, name: string): boolean =>
  namespace === 'default' && name === 'kubernetes';

/** Numbers of Services in a cluster. */
export interface AnnotatedServices {
  /** With the annotation and no selector of their own, by the annotation's validity. */
  readonly valid: number;
  readonly invalid: number;
  /** With slices that the hub made by opt-in. A relay of the version before has neither of these counts. */
  readonly sliced?: number;
  /** Of these the ones that do not opt in: with a selector, or without the annotation. */
  readonly stray?: number;
}
