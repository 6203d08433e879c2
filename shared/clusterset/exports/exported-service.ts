/**
 * The part of a valid export that its set stores, and every importer merges: held to what an API server
 * stores, and to a size (MC-59).
 */

import { askedLocality } from '#shared/clusterset/imports/locality.ts';
import { withOptInSelector } from '#shared/controllers/opt-in/writer.ts';
import { areLabels, isMap, isProtocol, isQualifiedName, isServicePort } from '#shared/kube/api-validation.ts';
import type { ServiceExport } from '#shared/kube/mcs-types.ts';
import type { Service, ServicePort } from '#shared/kube/types.ts';
import type { ExportValidity } from './export-validity.ts';
import { maxPorts } from './merge-ports.ts';
import type { ExportedService } from './precedence.ts';

export interface CheckedExport {
  readonly validity: ExportValidity;
  /** Undefined for an export that is not valid. */
  readonly exported: ExportedService | undefined;
  /** Omitted fields, and annotations without effect. */
  readonly problems: readonly string[];
}

/** Bytes of the whole text. */
export const maxExportBytes = 32 * 1024;

/**
 * Returns the export without fields that an API server would reject. One such field would make the importers'
 * API servers reject the whole import, with the exports of other clusters. The export's condition names each
 * omitted field.
 */
export function checkExport(
  cluster: string,
  serviceExport: ServiceExport,
  validity: ExportValidity,
): CheckedExport {
  const { locality, problems } = askedLocality(serviceExport.metadata.annotations);
  if (!validity.valid) return { validity, exported: undefined, problems };
  const left = new LeftOut();
  const exported: ExportedService = {
    cluster,
    uid: serviceExport.metadata.uid ?? '',
    createdAt: serviceExport.metadata.creationTimestamp as string | undefined,
    labels: left.entries('exportedLabels', serviceExport.spec?.exportedLabels, (key, value) =>
      areLabels({ [key]: value }),
    ),
    annotations: left.entries('exportedAnnotations', serviceExport.spec?.exportedAnnotations, (key) =>
      isQualifiedName(key.toLowerCase()),
    ),
    spec: specOf(validity.service, left),
    ...(locality && { locality }),
  };
  const tooLarge = sizeError(exported);
  const keeps = withOptInSelector(validity.service, 'active');
  if (tooLarge)
    return {
      validity: { valid: false, reason: 'TooLarge', message: tooLarge, keeps },
      exported: undefined,
      problems,
    };
  return { validity, exported, problems: [...problems, ...left.problems] };
}

/** The fields that the merge reads, and no others: a change of any other field wakes no other export. */
function specOf({ spec = {} }: Service, left: LeftOut): ExportedService['spec'] {
  const {
    clusterIP,
    ports,
    ipFamilies,
    sessionAffinity,
    sessionAffinityConfig,
    internalTrafficPolicy,
    trafficDistribution,
  } = spec;
  const timeoutSeconds = sessionAffinityConfig?.clientIP?.timeoutSeconds;
  const isTimeout =
    Number.isInteger(timeoutSeconds) &&
    (timeoutSeconds as number) >= 1 &&
    (timeoutSeconds as number) <= 86_400;
  return {
    ...(clusterIP === 'None' && { clusterIP }),
    ...(ports && { ports: left.ports(ports) }),
    ...(ipFamilies && { ipFamilies }),
    ...left.unlessOneOf('sessionAffinity', sessionAffinity, ['None', 'ClientIP']),
    ...(timeoutSeconds !== undefined &&
      left.unless('sessionAffinityConfig.clientIP.timeoutSeconds', timeoutSeconds, isTimeout) && {
        sessionAffinityConfig: { clientIP: { timeoutSeconds } },
      }),
    ...left.unlessOneOf('internalTrafficPolicy', internalTrafficPolicy, ['Cluster', 'Local']),
    ...left.unlessOneOf('trafficDistribution', trafficDistribution, [
      'PreferClose',
      'PreferSameZone',
      'PreferSameNode',
    ]),
  };
}

/** The first of them; a condition has room for few. */
const maxProblems = 20;

/** Collects the omitted fields of one export. */
class LeftOut {
  readonly problems: string[] = [];

  entries(
    field: string,
    map: { readonly [key: string]: string } = {},
    isValid: (key: string, value: string) => boolean,
  ): { readonly [key: string]: string } {
    return Object.fromEntries(
      Object.entries(map).filter(([key, value]) =>
        this.unless(`${field} ${shown(key)}`, value, isValid(key, value)),
      ),
    );
  }

  ports(ports: readonly ServicePort[]): readonly ServicePort[] {
    return ports
      .filter((port) =>
        this.unless(
          'port',
          isMap(port) ? port.port : port,
          isServicePort(port) && isProtocol(port.protocol || 'TCP'),
        ),
      )
      .map(({ targetPort: _, nodePort: __, ...port }) => port);
  }

  unlessOneOf<F extends string>(
    field: F,
    value: string | undefined,
    allowed: readonly string[],
  ): { readonly [K in F]?: string } {
    if (value === undefined || !this.unless(field, value, allowed.includes(value))) return {};
    return { [field]: value } as { readonly [K in F]?: string };
  }

  unless(field: string, value: unknown, isValid: boolean): boolean {
    if (!isValid && this.problems.length < maxProblems)
      this.problems.push(`${field} is left out: no API server takes ${shown(value)}.`);
    return isValid;
  }
}

function sizeError(exported: ExportedService): string | undefined {
  const ports = exported.spec.ports?.length ?? 0;
  if (ports > maxPorts) return `the Service has ${ports} ports: at most ${maxPorts} are exported`;
  const bytes = encoder.encode(JSON.stringify(exported)).length;
  return bytes > maxExportBytes
    ? `the export has ${bytes} bytes: at most ${maxExportBytes} are exported`
    : undefined;
}

const encoder = new TextEncoder();
const shown = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, 60);
