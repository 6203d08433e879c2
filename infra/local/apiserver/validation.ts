import { isIP, isIPv4, isIPv6 } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import type { FieldError } from './failure.ts';
import type { Fields, RawObject, StoreKind } from './kinds.ts';

/** What of the API server's validation the two controllers could run into (API-7), with its texts. */
export function validate(kind: StoreKind, object: RawObject, old: RawObject | undefined): readonly FieldError[] {
  const { metadata } = object;
  const errors: FieldError[] = [];
  if (!metadata.name) errors.push(required('metadata.name', 'name or generateName is required'));
  else if (!subdomain.test(metadata.name)) errors.push(bad('metadata.name', metadata.name, subdomainText));
  if (metadata.deletionTimestamp && !old?.metadata.deletionTimestamp) {
    errors.push(bad('metadata.deletionTimestamp', metadata.deletionTimestamp, 'field is immutable'));
  }
  if (kind === 'Service') errors.push(...validateService(object.spec ?? {}));
  // Subsets that stay as they are, are not looked at again.
  if (kind === 'Endpoints' && !(old && isDeepStrictEqual(old['subsets'], object['subsets'])))
    errors.push(...validateSubsets(list(object['subsets'])));
  if (kind === 'EndpointSlice') errors.push(...validateSlice(object, old));
  if (kind === 'Event' && !old) {
    const { namespace = '' } = (object['involvedObject'] ?? {}) as { namespace?: string };
    if ((namespace || 'default') !== metadata.namespace) errors.push(bad('involvedObject.namespace', namespace, 'does not match event.namespace'));
  }
  return errors;
}

const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const subdomainText = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.'";

const list = (value: unknown): Fields[] => (value ?? []) as Fields[];
const bad = (field: string, value: unknown, why: string): FieldError => ({
  field,
  reason: 'FieldValueInvalid',
  message: `Invalid value: ${JSON.stringify(value)}: ${why}`,
});
const required = (field: string, why = ''): FieldError => ({ field, reason: 'FieldValueRequired', message: `Required value${why && `: ${why}`}` });
const tooMany = (field: string, count: number, max: number): FieldError => ({
  field,
  reason: 'FieldValueTooMany',
  message: `Too many: ${count}: must have at most ${max} items`,
});

function validateService(spec: Fields): FieldError[] {
  const needsPorts = spec['clusterIP'] !== 'None' && spec['type'] !== 'ExternalName';
  if (needsPorts && list(spec['ports']).length === 0) return [required('spec.ports')];
  return validatePorts('spec.ports', list(spec['ports']));
}

function validateSubsets(subsets: readonly Fields[]): FieldError[] {
  return subsets.flatMap((subset, s) => {
    const at = `subsets[${s}]`;
    if (!subset['addresses'] && !subset['notReadyAddresses']) return [required(at, 'must specify `addresses` or `notReadyAddresses`')];
    const addresses = ['addresses', 'notReadyAddresses'].flatMap((field) =>
      list(subset[field]).flatMap((a, i) => {
        const { ip = '', nodeName } = a as { ip?: string; nodeName?: string };
        return [...validateNodeName(`${at}.${field}[${i}].nodeName`, nodeName), ...validateIP(`${at}.${field}[${i}].ip`, ip)];
      }),
    );
    return [...addresses, ...validatePorts(`${at}.ports`, list(subset['ports']))];
  });
}

function validatePorts(at: string, ports: readonly Fields[]): FieldError[] {
  return ports.flatMap((p, i) => {
    const port = p['port'] as number;
    return [
      ...(ports.length > 1 && !p['name'] ? [required(`${at}[${i}].name`)] : []),
      ...(Number.isInteger(port) && port >= 1 && port <= 65535 ? [] : [bad(`${at}[${i}].port`, port ?? 0, 'must be between 1 and 65535, inclusive')]),
    ];
  });
}

function validateSlice(slice: RawObject, old: RawObject | undefined): FieldError[] {
  const { addressType, endpoints, ports } = slice as { addressType?: string; endpoints?: Fields[]; ports?: Fields[] };
  if (!addressType) return [required('addressType')];
  if (!['IPv4', 'IPv6', 'FQDN'].includes(addressType)) {
    const message = `Unsupported value: ${JSON.stringify(addressType)}: supported values: "FQDN", "IPv4", "IPv6"`;
    return [{ field: 'addressType', reason: 'FieldValueNotSupported', message }];
  }
  const names = list(ports).map((p) => p['name']);
  const errors = names.flatMap((name, i): FieldError[] =>
    names.indexOf(name) < i
      ? [{ field: `ports[${i}].name`, reason: 'FieldValueDuplicate', message: `Duplicate value: ${JSON.stringify(name)}` }]
      : [],
  );
  if (old && old['addressType'] !== addressType) errors.push(bad('addressType', addressType, 'field is immutable'));
  if (list(endpoints).length > 1000) errors.push(tooMany('endpoints', list(endpoints).length, 1000));
  return [...errors, ...list(endpoints).flatMap((e, i) => validateEndpoint(`endpoints[${i}]`, e, addressType))];
}

function validateEndpoint(at: string, endpoint: Fields, addressType: string): FieldError[] {
  const addresses = (endpoint['addresses'] ?? []) as string[];
  const { forZones, forNodes } = (endpoint['hints'] ?? {}) as { forZones?: unknown[]; forNodes?: unknown[] };
  const errors: FieldError[] = [];
  if (addresses.length === 0) errors.push(required(`${at}.addresses`, 'must contain at least 1 address'));
  if (addresses.length > 100) errors.push(tooMany(`${at}.addresses`, addresses.length, 100));
  if ((forZones?.length ?? 0) > 8) errors.push(tooMany(`${at}.hints.forZones`, forZones?.length ?? 0, 8));
  if ((forNodes?.length ?? 0) > 8) errors.push(tooMany(`${at}.hints.forNodes`, forNodes?.length ?? 0, 8));
  for (const [i, address] of addressType === 'FQDN' ? [] : addresses.entries()) {
    if (isIP(address) && !(addressType === 'IPv4' ? isIPv4 : isIPv6)(address))
      errors.push(bad(`${at}.addresses`, address, `must be an ${addressType} address`));
    errors.push(...validateIP(`${at}.addresses[${i}]`, address));
  }
  return [...errors, ...validateNodeName(`${at}.nodeName`, endpoint['nodeName'] as string | undefined)];
}

const validateNodeName = (at: string, name: string | undefined): FieldError[] =>
  name === undefined || subdomain.test(name) ? [] : [bad(at, name, subdomainText)];

function validateIP(at: string, ip: string): FieldError[] {
  if (!isIP(ip)) return [bad(at, ip, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)')];
  const found = special.find(([pattern]) => pattern.test(ip));
  return found ? [bad(at, ip, `may not be ${found[1]}`)] : [];
}

const special: readonly (readonly [RegExp, string])[] = [
  [/^(0\.0\.0\.0|::)$/, 'unspecified (0.0.0.0 or ::)'],
  [/^(127\.|::1$)/, 'in the loopback range (127.0.0.0/8, ::1/128)'],
  [/^(169\.254\.|fe[89ab])/i, 'in the link-local range (169.254.0.0/16, fe80::/10)'],
  [/^(224\.0\.0\.|ff02:)/i, 'in the link-local multicast range (224.0.0.0/24, ff02::/10)'],
];
