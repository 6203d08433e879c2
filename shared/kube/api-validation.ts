/**
 * Rules of the API server for names, labels and ports (apimachinery's util/validation). Data that breaks them
 * comes from no API server: a relay that sends it is broken or hostile.
 */
import type { Labels } from './labels.ts';

const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const dnsLabel = new RegExp(`^${label}$`);
const dnsSubdomain = new RegExp(`^${label}(\\.${label})*$`);
const qualifiedPart = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;
const portName = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

/** DNS-1123 label, at most 63 characters: a namespace. */
export const isDnsLabel = (text: string): boolean => text.length <= 63 && dnsLabel.test(text);

/** DNS-1123 subdomain, at most 253 characters: the name of every other kind that the relay watches. */
export const isDnsSubdomain = (text: string): boolean => text.length <= 253 && dnsSubdomain.test(text);

/** A label's value; the empty text is one. */
export const isLabelValue = (text: unknown): text is string =>
  typeof text === 'string' && text.length <= 63 && (text === '' || qualifiedPart.test(text));

/** A qualified name: an optional DNS subdomain and "/", then at most 63 characters. */
export function isQualifiedName(text: string): boolean {
  const slash = text.indexOf('/');
  const name = text.slice(slash + 1);
  return (slash < 0 || isDnsSubdomain(text.slice(0, slash))) && name.length <= 63 && qualifiedPart.test(name);
}

export const areLabels = (labels: unknown): labels is Labels =>
  isMap(labels) &&
  Object.entries(labels).every(([key, value]) => isQualifiedName(key) && isLabelValue(value));

/**
 * Keys as of labels (in any case, as the API server lowers the prefix), and values of any well-formed text;
 * at most 256 KiB together.
 */
export const areAnnotations = (annotations: unknown): annotations is Labels =>
  isMap(annotations) &&
  Object.entries(annotations).every(
    ([key, value]) => isQualifiedName(key.toLowerCase()) && isWellFormed(value),
  ) &&
  Object.entries(annotations).reduce((sum, [key, value]) => sum + key.length + (value as string).length, 0) <=
    256 * 1024;

export const isPortNumber = (port: unknown): port is number =>
  Number.isInteger(port) && (port as number) >= 1 && (port as number) <= 65_535;

/** An IANA service name without its rule on letters: every port name that the API server accepts passes. */
export const isPortName = (name: unknown): name is string =>
  typeof name === 'string' && name.length <= 63 && portName.test(name);

export const isProtocol = (protocol: unknown): boolean =>
  protocol === 'TCP' || protocol === 'UDP' || protocol === 'SCTP';

/** A port of a Service. An absent or empty name or protocol is allowed. */
export const isServicePort = (port: unknown): boolean =>
  isMap(port) &&
  isPortNumber(port['port']) &&
  (!port['name'] || isPortName(port['name'])) &&
  (!port['protocol'] || isProtocol(port['protocol'])) &&
  (port['targetPort'] === undefined || isTargetPort(port['targetPort'])) &&
  (port['appProtocol'] === undefined ||
    port['appProtocol'] === '' ||
    (typeof port['appProtocol'] === 'string' && isQualifiedName(port['appProtocol'])));

/** Without a lone surrogate, which no UTF-8 text has. */
export const isWellFormed = (text: unknown): text is string =>
  typeof text === 'string' && !loneSurrogate.test(text);
const loneSurrogate = /\p{Surrogate}/u;

export const isMap = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** 0 is a number that only older API servers let pass. */
const isTargetPort = (target: unknown): boolean =>
  target === 0 || target === '' || isPortNumber(target) || isPortName(target);
