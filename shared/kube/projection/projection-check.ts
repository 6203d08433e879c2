/**
 * Checks a decoded projection by the API server's rules, as far as the hub's decisions and writes depend on
 * its fields.
 */

import {
  areAnnotations,
  areLabels,
  isDnsLabel,
  isDnsSubdomain,
  isLabelValue,
  isMap,
  isPortName,
  isPortNumber,
  isServicePort,
  isWellFormed,
} from '../api-validation.ts';
import type { ServiceExport, ServiceImport } from '../mcs-types.ts';
import type { InputKind, Namespace, Node, ObjectOfKind, Pod, Service } from '../types.ts';

/** Returns the first field that no API server would have stored, or undefined. */
export function invalidField<K extends InputKind>(kind: K, object: ObjectOfKind[K]): string | undefined {
  const checks = checksOf(kind, object);
  return checks.find(([, isValid]) => !isValid)?.[0];
}

type Checks = readonly (readonly [field: string, isValid: boolean])[];

function checksOf(kind: InputKind, object: ObjectOfKind[InputKind]): Checks {
  const { uid, creationTimestamp, deletionTimestamp } = object.metadata;
  const times = [creationTimestamp, deletionTimestamp].every((time) => time === undefined || isTime(time));
  const metadata: Checks = [
    ['uid', isWellFormed(uid) && uid.length <= 128],
    ['a time', times],
  ];
  switch (kind) {
    case 'Service':
      return [...metadata, ...serviceChecks(object as Service)];
    case 'Pod':
      return [...metadata, ...podChecks(object as Pod)];
    case 'Node':
      return [...metadata, ...nodeChecks(object as Node)];
    case 'Namespace':
      return [...metadata, ['labels', areLabels((object as Namespace).metadata.labels ?? {})]];
    case 'ServiceExport':
      return [...metadata, ...exportChecks(object as ServiceExport)];
    case 'ServiceImport':
      return [
        ...metadata,
        ['labels', areLabels((object as ServiceImport).metadata.labels)],
        ['annotations', areAnnotations((object as ServiceImport).metadata.annotations)],
      ];
  }
}

function serviceChecks({ metadata, spec = {} }: Service): Checks {
  const { selector, ports, ipFamilies } = spec as { readonly [field: string]: unknown };
  return [
    ['labels', areLabels(metadata.labels)],
    ['annotations', areAnnotations(metadata.annotations)],
    ['selector', selector === undefined || areLabels(selector)],
    ['ports', ports === undefined || (Array.isArray(ports) && ports.every(isServicePort))],
    [
      'ipFamilies',
      ipFamilies === undefined ||
        (Array.isArray(ipFamilies) && ipFamilies.every((f) => f === 'IPv4' || f === 'IPv6')),
    ],
    ...texts(spec, ['type', 'clusterIP', 'trafficDistribution', 'sessionAffinity', 'internalTrafficPolicy']),
  ];
}

function podChecks({ metadata, spec, status }: Pod): Checks {
  const containers = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])];
  const ports = containers.flatMap((container) => container.ports ?? []);
  return [
    ['labels', areLabels(metadata.labels)],
    ['ports', ports.every((port) => isPortNumber(port.containerPort) && isPortName(port.name))],
    [
      'podIPs',
      [status?.podIP ?? '', ...(status?.podIPs ?? []).map(({ ip }) => ip)].every(
        (ip) => isWellFormed(ip) && ip.length <= 64,
      ),
    ],
    [
      'conditions',
      (status?.conditions ?? []).every(
        ({ status: ready, lastTransitionTime: at }) =>
          isWellFormed(ready) && (at === undefined || isTime(at)),
      ),
    ],
    ['nodeName', isAbsentOr(isDnsSubdomain, spec?.nodeName)],
    ['hostname', isAbsentOr(isDnsLabel, spec?.hostname)],
    ['subdomain', isAbsentOr(isDnsLabel, spec?.subdomain)],
    ...texts(status ?? {}, ['phase']),
  ];
}

function nodeChecks({ metadata: { name, labels }, status }: Node): Checks {
  return [
    ['name', isDnsSubdomain(name)],
    ['labels', Object.values(labels ?? {}).every(isLabelValue)],
    ['cpu', ['string', 'undefined'].includes(typeof status?.allocatable?.['cpu'])],
  ];
}

/** The CRD takes any text in the exported labels and annotations; shared/clusterset decides on these. */
function exportChecks({ metadata, spec }: ServiceExport): Checks {
  const maps = [metadata.annotations ?? {}, spec?.exportedLabels, spec?.exportedAnnotations];
  return [
    [
      'a map',
      maps.every(
        (map) =>
          isMap(map) && Object.entries(map).every(([key, value]) => isWellFormed(key) && isWellFormed(value)),
      ),
    ],
    ['generation', Number.isSafeInteger(metadata.generation)],
  ];
}

const texts = (object: object, fields: readonly string[]): Checks =>
  fields.map((field) => {
    const value = (object as { readonly [field: string]: unknown })[field];
    return [field, value === undefined || (isWellFormed(value) && value.length <= 256)] as const;
  });

const isAbsentOr = (isValid: (text: string) => boolean, value: unknown): boolean =>
  value === undefined || value === '' || (typeof value === 'string' && isValid(value));

const isTime = (time: unknown): boolean => time instanceof Date || (isWellFormed(time) && time.length <= 64);
