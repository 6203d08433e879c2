/** Which endpoints of an import its cluster's nodes are to use first, as an export asks for it (MC-91). */

import { isTrafficDistribution } from '#shared/controllers/slices/hints/traffic-distribution.ts';
import { annotationMinLocal, annotationPrefer } from '#shared/kube/names.ts';

export interface Locality {
  /**
   * `local`: those of the importing cluster itself. `zone`: those of the node's own zone, of all clusters.
   */
  readonly prefer: 'local' | 'zone';
  /**
   * Percent: with a smaller share of the ready endpoints `local` does not leave the traffic to them alone.
   */
  readonly minLocal?: number;
}

export interface AskedLocality {
  /** Undefined: any endpoint is as good as another. */
  readonly locality: Locality | undefined;
  /** Problems of the annotations, for the owner of the export. */
  readonly problems: readonly string[];
}

/** By the annotations of a ServiceExport. A value that is not allowed counts as none. */
export function askedLocality(annotations: { readonly [key: string]: string } = {}): AskedLocality {
  const [prefer, share] = [annotations[annotationPrefer], annotations[annotationMinLocal]];
  const problems: string[] = [];
  if (prefer !== undefined && !preferences.includes(prefer))
    problems.push(
      `Annotation ${annotationPrefer} is ${JSON.stringify(prefer)}: allowed are ${preferences.join(', ')}. Used is any.`,
    );
  const minLocal = percent(share);
  if (share !== undefined && minLocal === undefined)
    problems.push(
      `Annotation ${annotationMinLocal} is ${JSON.stringify(share)}: allowed are 1% to 100%. Used is none.`,
    );
  else if (share !== undefined && prefer !== 'local')
    problems.push(`Annotation ${annotationMinLocal} has no effect without ${annotationPrefer}: local.`);
  return { locality: localityOf(prefer, minLocal), problems };
}

const preferences: readonly string[] = ['local', 'zone', 'any'];

function percent(text: string | undefined): number | undefined {
  const value = /^[1-9]\d{0,2}%$/.test(text ?? '') ? Number.parseInt(text as string, 10) : undefined;
  return value !== undefined && value <= 100 ? value : undefined;
}

function localityOf(prefer: string | undefined, minLocal: number | undefined): Locality | undefined {
  if (prefer === 'local') return { prefer, ...(minLocal !== undefined && { minLocal }) };
  return prefer === 'zone' ? { prefer } : undefined;
}

/**
 * The annotation first. An imported endpoint names no node, so PreferSameNode is as much as PreferSameZone.
 */
export function localityOfExport(
  asked: Locality | undefined,
  trafficDistribution: string | undefined,
): Locality | undefined {
  // The next version may know others, and writes them down for all clusters of the set.
  if (asked?.prefer === 'local' || asked?.prefer === 'zone') return asked;
  return isTrafficDistribution(trafficDistribution) ? { prefer: 'zone' } : undefined;
}

export const localityText = (locality: Locality | undefined): string =>
  locality?.minLocal === undefined
    ? (locality?.prefer ?? 'any')
    : `${locality.prefer}, min-local ${locality.minLocal}%`;
