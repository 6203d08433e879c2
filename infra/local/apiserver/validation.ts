import { isIP, isIPv4, isIPv6 } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import { type Fields, listIn, type RawObject, type StoreKind } from './api-kinds.ts';
import { type FieldError, invalid } from './failure.ts';

/**
 * Throws 422 with the API server's texts, for the validation that objects of the two controllers can fail
 * (API-7).
 */
export function validate(kind: StoreKind, object: RawObject, old: RawObject | undefined): void {
  const { name, deletionTimestamp } = object.metadata;
  const errors = name
    ? validateName('metadata.name', name)
    : [required('metadata.name', 'name or generateName is required')];
  if (deletionTimestamp && !old?.metadata.deletionTimestamp)
    errors.push(bad('metadata.deletionTimestamp', deletionTimestamp, 'field is immutable'));
  errors.push(...(validators[kind]?.(object, old) ?? []));
  if (errors.length > 0) throw invalid(kind, name ?? '', errors);
}

const validators: {
  readonly [K in StoreKind]?: (object: RawObject, old: RawObject | undefined) => FieldError[];
} = {
  Service({ spec = {} }) {
    const needsPorts = spec['clusterIP'] !== 'None' && spec['type'] !== 'ExternalName';
    return needsPorts && !spec['ports']
      ? [required('spec.ports')]
      : validatePorts('spec.ports', listIn(spec['ports']));
  },
  // Unchanged subsets are not validated again.
  Endpoints: ({ subsets }, old) =>
    old && isDeepStrictEqual(old['subsets'], subsets) ? [] : listIn(subsets).flatMap(validateSubset),
  EndpointSlice: validateSlice,
};

const error = (field: string, reason: string, message: string): FieldError => ({ field, reason, message });
const bad = (field: string, value: unknown, why: string) =>
  error(field, 'FieldValueInvalid', `Invalid value: ${JSON.stringify(value)}: ${why}`);
const required = (field: string, why = '') =>
  error(field, 'FieldValueRequired', `Required value${why && `: ${why}`}`);

function validateSubset(subset: Fields, s: number): FieldError[] {
  const at = `subsets[${s}]`;
  if (!subset['addresses'] && !subset['notReadyAddresses'])
    return [required(at, 'must specify `addresses` or `notReadyAddresses`')];
  const addresses = ['addresses', 'notReadyAddresses'].flatMap((field) =>
    listIn(subset[field]).flatMap((a, i) => {
      const { ip = '', nodeName } = a as { ip?: string; nodeName?: string };
      return [
        ...validateName(`${at}.${field}[${i}].nodeName`, nodeName),
        ...validateIP(`${at}.${field}[${i}].ip`, ip),
      ];
    }),
  );
  return [...addresses, ...validatePorts(`${at}.ports`, listIn(subset['ports']))];
}

function validatePorts(at: string, ports: readonly Fields[]): FieldError[] {
  return ports.flatMap(({ name, port }, i) => [
    ...(ports.length > 1 && !name ? [required(`${at}[${i}].name`)] : []),
    ...(Number(port) >= 1 && Number(port) <= 65535
      ? []
      : [bad(`${at}[${i}].port`, port ?? 0, 'must be between 1 and 65535, inclusive')]),
  ]);
}

function validateSlice(slice: RawObject, old: RawObject | undefined): FieldError[] {
  const { addressType } = slice as { addressType?: string };
  if (!addressType) return [required('addressType')];
  const names = listIn(slice['ports']).map((p) => p['name']);
  const endpoints = listIn(slice['endpoints']);
  return [
    ...names.flatMap((n, i) =>
      names.indexOf(n) < i
        ? [error(`ports[${i}].name`, 'FieldValueDuplicate', `Duplicate value: ${JSON.stringify(n)}`)]
        : [],
    ),
    ...(old && old['addressType'] !== addressType
      ? [bad('addressType', addressType, 'field is immutable')]
      : []),
    ...atMost('endpoints', endpoints, 1000),
    ...endpoints.flatMap((e, i) => validateEndpoint(`endpoints[${i}]`, e, addressType)),
  ];
}

function validateEndpoint(at: string, endpoint: Fields, addressType: string): FieldError[] {
  const addresses = (endpoint['addresses'] ?? []) as string[];
  const hints = (endpoint['hints'] ?? {}) as Fields;
  const isOther = addressType === 'IPv4' ? isIPv6 : isIPv4;
  return [
    ...(addresses.length > 0 ? [] : [required(`${at}.addresses`, 'must contain at least 1 address')]),
    ...atMost(`${at}.addresses`, addresses, 100),
    ...['forZones', 'forNodes'].flatMap((field) => atMost(`${at}.hints.${field}`, listIn(hints[field]), 8)),
    ...(addressType === 'FQDN' ? [] : addresses).flatMap((ip, i) => [
      ...(isOther(ip) ? [bad(`${at}.addresses`, ip, `must be an ${addressType} address`)] : []),
      ...validateIP(`${at}.addresses[${i}]`, ip),
    ]),
    ...validateName(`${at}.nodeName`, endpoint['nodeName'] as string | undefined),
  ];
}

const atMost = (field: string, { length }: readonly unknown[], max: number): FieldError[] =>
  length > max
    ? [error(field, 'FieldValueTooMany', `Too many: ${length}: must have at most ${max} items`)]
    : [];

function validateName(at: string, name: string | undefined): FieldError[] {
  if (name === undefined || /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(name))
    return [];
  return [
    bad(
      at,
      name,
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.'",
    ),
  ];
}

function validateIP(at: string, ip: string): FieldError[] {
  if (!isIP(ip)) return [bad(at, ip, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)')];
  const special = /^(0\.0\.0\.0$|::1?$|127\.|169\.254\.|fe[89ab]|224\.0\.0\.|ff02:)/i.test(ip);
  return special
    ? [bad(at, ip, 'may not be an unspecified, loopback, link-local or link-local multicast address')]
    : [];
}
