/**
 * Checks received messages: a message that passes has the shape of its type. An error contains the problem, the given value and the allowed values. Each
 * entry of a message is checked separately, so an invalid object does not block other objects.
 */

import { defaultLimits, type QueueLimits } from '#shared/contract/limits.ts';
import { isDnsLabel, isDnsSubdomain, isLabelValue, isWellFormed } from '#shared/kube/api-validation.ts';
import { controllers } from '#shared/kube/controllers.ts';
import { isKubernetesVersion } from '#shared/kube/kubernetes-version.ts';
import { decodeProjection } from '#shared/kube/projection.ts';
import { invalidField } from '#shared/kube/projection-check.ts';
import { isResourceVersion } from '#shared/kube/resource-version-text.ts';
import { allKinds, type InputKind, type Kind } from '#shared/kube/types.ts';
import { decodeMessage, isTooDeep, printable, UnreadableMessage } from './codec.ts';
import { type Entry, type EventsMessage, maxProjectionLength, maxProjectionLengthOf, messageVersion } from './messages.ts';
import type { WakeUpMessage } from './wake-up-message.ts';

/** Kubernetes allows no longer name. */
const maxNameLength = 253;
/** Work of an export or an import has a prefix. */
const maxWorkNameLength = maxNameLength + 'export:'.length;
/** A key is NAMESPACE/NAME. */
const maxKeyLength = 2 * maxNameLength + 1;
/** More than fit into a message of SQS. */
const maxEntries = 20_000;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression looks for them
const controlCharacter = /[\u0000-\u001f\u007f-\u009f]/;

/** Throws UnreadableMessage. The entries are objects, whose fields `checkEntries` checks. */
export function parseEventsMessage(body: string, limits: QueueLimits = defaultLimits.queue): EventsMessage {
  const m = object(decodeMessage(body, limits), 'message');
  checkVersion(m);
  for (const field of ['cluster', 'session', 'uid'] as const) text(m, field);
  version(m, 'base');
  for (const field of ['runs', 'waits', 'wentBackAt'] as const) if (m[field] !== undefined) number(m, field);
  switch (m['type']) {
    case 'heartbeat': {
      const high = object(m['high'], 'high');
      // A newer relay may watch kinds that this version does not have.
      for (const kind of allKinds) if (high[kind] !== undefined) version(high, kind);
      number(m, 'at');
      if (m['kubernetes'] !== undefined && !isKubernetesVersion(m['kubernetes']))
        throw new UnreadableMessage(`kubernetes is ${show(m['kubernetes'])}: a version such as v1.37.2 is needed`);
      if (m['annotated'] !== undefined) {
        const annotated = object(m['annotated'], 'annotated');
        for (const field of ['valid', 'invalid'] as const) number(annotated, field);
      }
      return m as unknown as EventsMessage;
    }
    case 'list': {
      text(m, 'listId');
      number(m, 'i');
      if (m['progress'] !== undefined) {
        const progress = object(m['progress'], 'progress');
        number(progress, 'entries');
        if (progress['services'] !== undefined) text(progress, 'services', maxKeyLength);
      }
      if (m['omitted'] !== undefined) elements(m, 'omitted');
      break;
    }
    case 'live':
      break;
    default:
      throw new UnreadableMessage(`type is ${show(m['type'])}: live, list or heartbeat is allowed`);
  }
  version(m, 'asOf');
  const kind = oneOf(m['kind'], allKinds, 'kind');
  if (m['type'] === 'list') for (const end of ['from', 'to'] as const) rangeEnd(m, end, kind);
  for (const key of (m['omitted'] ?? []) as unknown[]) rangeEnd({ omitted: key }, 'omitted', kind);
  for (const entry of elements(m, 'entries')) object(entry, 'entry');
  return m as unknown as EventsMessage;
}

export interface RefusedEntry {
  /** Empty if the entry's field is not text. */
  readonly namespace: string;
  readonly name: string;
  /** The entry with its fields in the queue. */
  readonly entry: object;
  readonly reason: string;
}

/** Divides the entries of a message into valid and refused ones. No API server would have stored the object of a refused entry. */
export function checkEntries<E extends Entry>(
  kind: Kind,
  entries: readonly E[],
): { readonly accepted: readonly E[]; readonly refused: readonly RefusedEntry[] } {
  const accepted: E[] = [];
  const refused: RefusedEntry[] = [];
  for (const entry of entries) {
    const reason = reasonAgainst(kind, entry as unknown as Fields);
    const [namespace, name] = [entry.ns, entry.name].map((text: unknown) => (typeof text === 'string' ? text : ''));
    if (reason === undefined) accepted.push(entry);
    else refused.push({ namespace: namespace ?? '', name: name ?? '', entry, reason });
  }
  return { accepted, refused };
}

function reasonAgainst(kind: Kind, entry: Fields): string | undefined {
  try {
    checkEntry(kind, entry);
    return undefined;
  } catch (error) {
    if (error instanceof UnreadableMessage) return error.message;
    throw error;
  }
}

function checkEntry(kind: Kind, e: Fields): asserts e is Fields & Entry {
  objectName(e, kind);
  version(e, 'rv');
  if (e['seen'] !== undefined) time(e, 'seen');
  if (kind === 'Endpoints' || kind === 'EndpointSlice') {
    text(e, 'uid', 128, true);
    for (const field of ['svc', 'oldSvc'] as const) if (field === 'svc' || e[field] !== undefined) serviceName(e, field);
    if (e['by'] !== undefined) text(e, 'by', maxNameLength, true);
    if (e['gen'] !== undefined) number(e, 'gen');
    if (e['body'] !== undefined) object(e['body'], 'body');
    for (const flag of ['own', 'gone', 'leader', 'again'] as const) if (e[flag] !== undefined) oneOf(e[flag], [true], flag);
  } else if (e['o'] !== undefined) {
    projection(e['o'], maxProjectionLengthOf[kind] ?? maxProjectionLength);
    checkObject(kind, e as Fields & { readonly ns: string; readonly name: string; readonly o: string });
  }
}

/** Checks an end of a key range, which is empty or the key "namespace/name" of an object of the kind. */
function rangeEnd(fields: Fields, field: 'from' | 'to' | 'omitted', kind: Kind): void {
  text(fields, field, maxKeyLength, true);
  const key = fields[field] as string;
  const slash = key.indexOf('/');
  if (key !== '' && slash < 0) throw new UnreadableMessage(`${field} is ${show(key)}: empty text or "namespace/name" is needed`);
  if (key !== '') objectName({ ns: key.slice(0, slash), name: key.slice(slash + 1) }, kind);
}

function objectName(e: Fields, kind: Kind): void {
  const isClusterScoped = kind === 'Node' || kind === 'Namespace';
  const { ns, name } = e;
  if (typeof ns !== 'string' || !(isClusterScoped ? ns === '' : isDnsLabel(ns)))
    throw new UnreadableMessage(`ns is ${show(ns)}: ${isClusterScoped ? 'empty text' : 'a DNS label of 1 to 63 characters'} is needed for a ${kind}`);
  if (typeof name !== 'string' || !(kind === 'Namespace' ? isDnsLabel(name) : isDnsSubdomain(name)))
    throw new UnreadableMessage(`name is ${show(name)}: a DNS ${kind === 'Namespace' ? 'label' : 'subdomain'} is needed for a ${kind}`);
}

/** Checks the name of a service. Endpoints have the name of their Service. A slice's label may have any valid value, or be missing. */
function serviceName(e: Fields, field: 'svc' | 'oldSvc'): void {
  const value = e[field];
  if (!isLabelValue(value) && !(typeof value === 'string' && isDnsSubdomain(value)))
    throw new UnreadableMessage(`${field} is ${show(value)}: the value of a label or a DNS subdomain is needed`);
}

function checkObject(kind: InputKind, { ns, name, o }: { readonly ns: string; readonly name: string; readonly o: string }): void {
  let field: string | undefined;
  try {
    const decoded = decodeProjection(kind, ns, name, o);
    field = isTooDeep(decoded) ? 'the number of levels' : invalidField(kind, decoded);
  } catch (cause) {
    throw new UnreadableMessage(`o is ${show(o)}: the projection of a ${kind} is needed`, { cause });
  }
  if (field !== undefined) throw new UnreadableMessage(`o of ${kind} ${printable(`${ns}/${name}`)} has an invalid value for ${field}: ${show(o)}`);
}

const wakeUpFields = [
  ...(['cluster', 'namespace', 'service', 'generation', 'retryNumbers'] as const),
  ...(['notBeforeMs', 'delayedByBatch', 'latencyFromMs', 'requeues', 'dueMs'] as const),
] as const satisfies readonly (keyof WakeUpMessage)[];

/** Throws UnreadableMessage. */
export function readWakeUp(body: string): WakeUpMessage {
  const m = object(decodeMessage(body), 'message');
  checkVersion(m);
  text(m, 'cluster');
  text(m, 'namespace', maxNameLength);
  text(m, 'service', maxWorkNameLength);
  const { namespace, service } = m as { readonly [field: string]: string };
  if (!isDnsLabel(namespace ?? '')) throw new UnreadableMessage(`namespace is ${show(namespace)}: a DNS label of 1 to 63 characters is needed`);
  const name = (service ?? '').replace(/^(export|import):/, '');
  if (!isLabelValue(name) && !isDnsSubdomain(name))
    throw new UnreadableMessage(`service is ${show(service)}: the name of a Service, alone or after "export:" or "import:", is needed`);
  number(m, 'generation');
  const retryNumbers = object(m['retryNumbers'], 'retryNumbers');
  for (const controller of Object.keys(retryNumbers)) {
    oneOf(controller, controllers, 'a key of retryNumbers');
    number(retryNumbers, controller);
  }
  if (m['requeues'] !== undefined) number(m, 'requeues');
  if (m['delayedByBatch'] !== undefined) oneOf(m['delayedByBatch'], [true, false], 'delayedByBatch');
  for (const field of ['notBeforeMs', 'latencyFromMs', 'dueMs'] as const) if (m[field] !== undefined) time(m, field);
  return Object.fromEntries(wakeUpFields.flatMap((field) => (m[field] === undefined ? [] : [[field, m[field]]]))) as unknown as WakeUpMessage;
}

type Fields = { readonly [field: string]: unknown };

function checkVersion(m: Fields): void {
  if (m['v'] !== messageVersion) throw new UnreadableMessage(`v is ${show(m['v'])}: this version reads ${messageVersion}`);
}

function object(value: unknown, what: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new UnreadableMessage(`${what} is ${show(value)}: an object is needed`);
  return value as Fields;
}

function text(fields: Fields, field: string, longest = maxNameLength, mayBeEmpty = false): void {
  const value = fields[field];
  if (typeof value !== 'string' || value.length > longest || (value === '' && !mayBeEmpty)) {
    throw new UnreadableMessage(`${field} is ${show(value)}: text of ${mayBeEmpty ? 'at most' : '1 to'} ${longest} characters is needed`);
  }
  // The fields are names and ids. A terminal would interpret control characters, and UTF-8 cannot encode lone surrogates.
  if (controlCharacter.test(value) || !isWellFormed(value))
    throw new UnreadableMessage(`${field} is ${show(value)}: text without control characters and lone surrogates is needed`);
}

function elements(fields: Fields, field: string): readonly unknown[] {
  const value = fields[field];
  if (!Array.isArray(value)) throw new UnreadableMessage(`${field} is ${show(value)}: a list is needed`);
  if (value.length > maxEntries) throw new UnreadableMessage(`${field} has ${value.length} elements: at most ${maxEntries} are allowed`);
  return value;
}

/** Checks a projection. It may contain any characters, because tenants' annotations are part of it. */
function projection(value: unknown, longest: number): void {
  if (typeof value !== 'string' || value === '' || value.length > longest)
    throw new UnreadableMessage(`o is ${show(value)}: text of 1 to ${longest} characters is needed`);
}

function number(fields: Fields, field: string): void {
  const value = fields[field];
  if (!Number.isSafeInteger(value) || (value as number) < 0)
    throw new UnreadableMessage(`${field} is ${show(value)}: a whole number, 0 or more, is needed`);
}

/** Checks a time in ms since the epoch. Clocks of tests have fractions. */
function time(fields: Fields, field: string): void {
  if (!Number.isFinite(fields[field])) throw new UnreadableMessage(`${field} is ${show(fields[field])}: a time in ms since the epoch is needed`);
}

function version(fields: Fields, field: string): void {
  const value = fields[field];
  if (!isResourceVersion(value)) {
    throw new UnreadableMessage(`${field} is ${show(value)}: a resourceVersion of 1 to 39 digits is needed`);
  }
}

function oneOf<T extends string | boolean>(value: unknown, allowed: readonly T[], what: string): T {
  if (!allowed.includes(value as T)) throw new UnreadableMessage(`${what} is ${show(value)}: ${allowed.join(', ')} are allowed`);
  return value as T;
}

const show = (value: unknown): string => (value === undefined ? 'missing' : printable(value).slice(0, 60));
