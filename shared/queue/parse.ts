/**
 * Checks received messages: a message that passes has the shape of its type. An error contains the problem,
 * the given value and the allowed values. Each entry of a message is checked separately, so an invalid object
 * does not block other objects.
 */

import { defaultLimits, type QueueLimits } from '#shared/contract/limits.ts';
import { isDnsLabel, isDnsSubdomain, isLabelValue } from '#shared/kube/api-validation.ts';
import { isKubernetesVersion } from '#shared/kube/kubernetes-version.ts';
import { maxNotReadyBytes } from '#shared/kube/projection/not-ready.ts';
import { decodeProjection } from '#shared/kube/projection/projection.ts';
import { invalidField } from '#shared/kube/projection/projection-check.ts';
import { allKinds, type InputKind, isInput, type Kind } from '#shared/kube/types.ts';
import { partsOf, type WorkKind, workKinds } from '#shared/kube/work-kinds.ts';
import {
  type AnyFields,
  type Check,
  type Checks,
  count,
  fields,
  firstReason,
  flag,
  isCount,
  isText,
  list,
  maxKeyLength,
  maxNameLength,
  needs,
  object,
  oneOf,
  optional,
  show,
  text,
  timeMs,
  version,
} from './checks.ts';
import { decodeMessage, isTooDeep, printable, UnreadableMessage } from './codec.ts';
import type {
  Entry,
  EventsHeader,
  EventsMessage,
  HeartbeatMessage,
  InputEntry,
  ListPartMessage,
  LiveMessage,
  OutputEntry,
} from './messages.ts';
import { maxProjectionSize, messageVersion } from './messages.ts';
import type { WakeUpMessage } from './wake-up-message.ts';

const ownVersion = needs((value) => value === messageVersion, `this version reads ${messageVersion}`);

const eventsHeader = {
  v: ownVersion,
  cluster: text(),
  session: text(),
  uid: text(),
  firstListVersion: version,
  historyRewoundAtMs: optional(count),
  run: optional(count),
} satisfies Checks<keyof EventsHeader>;

type OwnFields<M> = Exclude<keyof M, keyof EventsHeader | 'type'>;

/** A newer relay may know other changes and writers. */
const endpointDelays = fields({
  counts: list(fields({ writer: text(), change: text(), atMostMs: count, count })),
  slowest: list(
    fields({ namespace: text(), service: text(maxNameLength, 0), writer: text(), change: text(), ms: count }),
  ),
});

const heartbeat = {
  // A newer relay may watch kinds that this version does not have.
  readUpTo: fields(Object.fromEntries(allKinds.map((kind) => [kind, optional(version)]))),
  sentAtMs: count,
  kubernetesVersion: optional(needs(isKubernetesVersion, 'a version such as v1.37.2 is needed')),
  annotated: optional(
    fields({ valid: count, invalid: count, sliced: optional(count), stray: optional(count) }),
  ),
  endpointDelays: optional(endpointDelays),
  removals: optional(fields({ count, withinMs: count })),
} satisfies Checks<OwnFields<HeartbeatMessage>>;

const live = { kind: oneOf(...allKinds), asOf: version, entries: list(object) } satisfies Checks<
  OwnFields<LiveMessage>
>;

const listPart = (kind: Kind): Checks<Exclude<OwnFields<ListPartMessage>, keyof typeof live>> => ({
  listId: text(),
  partNumber: count,
  isLast: flag,
  progress: optional(fields({ entries: count, services: optional(text(maxKeyLength)) })),
  from: rangeEnd(kind),
  to: rangeEnd(kind),
  omitted: optional(list(rangeEnd(kind))),
});

/** Throws UnreadableMessage. The entries are objects, whose fields `checkEntries` checks. */
export function parseEventsMessage(body: string, limits: QueueLimits = defaultLimits.queue): EventsMessage {
  const m = checked(decodeMessage(body, limits), {
    ...eventsHeader,
    type: oneOf('live', 'list', 'heartbeat'),
  });
  if (m['type'] === 'heartbeat') checked(m, heartbeat);
  else checked(m, live);
  if (m['type'] === 'list') checked(m, listPart(m['kind'] as Kind));
  return m as unknown as EventsMessage;
}

function checked(message: unknown, checks: Checks): AnyFields {
  const reason = fields(checks)(message, 'message');
  if (reason !== undefined) throw new UnreadableMessage(reason);
  return message as AnyFields;
}

/** Checks an end of a key range, which is empty or the key "namespace/name" of an object of the kind. */
function rangeEnd(kind: Kind): Check {
  const [namespace, name] = [namespaceOf(kind), nameOf(kind)];
  return (key, field) => {
    if (key === '') return undefined;
    if (typeof key !== 'string' || !key.includes('/'))
      return `${field} is ${show(key)}: empty text or "namespace/name" is needed`;
    const slash = key.indexOf('/');
    return namespace(key.slice(0, slash), 'namespace') ?? name(key.slice(slash + 1), 'name');
  };
}

const namespaceOf = (kind: Kind): Check =>
  kind === 'Node' || kind === 'Namespace'
    ? needs((value) => value === '', `empty text is needed for a ${kind}`)
    : needs(isText(isDnsLabel), `a DNS label of 1 to 63 characters is needed for a ${kind}`);
const nameOf = (kind: Kind): Check =>
  kind === 'Namespace'
    ? needs(isText(isDnsLabel), 'a DNS label is needed for a Namespace')
    : needs(isText(isDnsSubdomain), `a DNS subdomain is needed for a ${kind}`);

const entryHeader = (kind: Kind): Checks => ({
  namespace: namespaceOf(kind),
  name: nameOf(kind),
  resourceVersion: version,
  observedAtMs: optional(timeMs),
});

/** Endpoints have the name of their Service. A slice's label may have any valid value, or be missing. */
const serviceName = needs(
  (value) => isLabelValue(value) || isText(isDnsSubdomain)(value),
  'the value of a label or a DNS subdomain is needed',
);

const output = {
  uid: text(128, 0),
  generation: optional(count),
  service: serviceName,
  formerService: optional(serviceName),
  managedBy: optional(text(maxNameLength, 0)),
  isOwnWrite: flag,
  deleted: flag,
  leader: flag,
  secondLook: flag,
  manager: optional(text(128)),
  lateMs: optional(count),
  object: optional(object),
} satisfies Checks<Exclude<keyof OutputEntry, keyof InputEntry>>;

/** Its reader checks the rest, because nothing of it concerns the object. */
const notReady = optional(
  needs(
    isText((value) => value !== '' && Buffer.byteLength(value) <= maxNotReadyBytes),
    `text of 1 to ${maxNotReadyBytes} bytes is needed`,
  ),
);

export interface RefusedEntry {
  /** Empty if the entry's field is not text. */
  readonly namespace: string;
  readonly name: string;
  readonly entry: object;
  readonly reason: string;
}

/**
 * Divides the entries of a message into valid and refused ones. No API server would have stored the object of
 * a refused entry.
 */
export function checkEntries<E extends Entry>(
  kind: Kind,
  entries: readonly E[],
): { readonly accepted: readonly E[]; readonly refused: readonly RefusedEntry[] } {
  const check = fields({
    ...entryHeader(kind),
    ...(isInput(kind) ? { projection: optional(projectionText(kind)), notReady } : output),
  });
  const accepted: E[] = [];
  const refused: RefusedEntry[] = [];
  for (const entry of entries) {
    const reason = check(entry, 'entry') ?? (isInput(kind) ? reasonAgainstObject(kind, entry) : undefined);
    const [namespace = '', name = ''] = [entry.namespace, entry.name].map((text: unknown) =>
      typeof text === 'string' ? text : '',
    );
    if (reason === undefined) accepted.push(entry);
    else refused.push({ namespace, name, entry, reason });
  }
  return { accepted, refused };
}

/** A projection may contain any characters, because tenants' annotations are part of it. */
function projectionText(kind: InputKind): Check {
  const longest = maxProjectionSize[kind];
  return needs(
    isText((text) => text !== '' && Buffer.byteLength(text) <= longest),
    `text of 1 to ${longest} bytes is needed`,
  );
}

function reasonAgainstObject(
  kind: InputKind,
  { namespace, name, projection }: InputEntry,
): string | undefined {
  if (projection === undefined) return undefined;
  let field: string | undefined;
  try {
    const decoded = decodeProjection(kind, namespace, name, projection);
    field = isTooDeep(decoded) ? 'the number of levels' : invalidField(kind, decoded);
  } catch {
    return `projection is ${show(projection)}: the projection of a ${kind} is needed`;
  }
  return (
    field &&
    `projection of ${kind} ${printable(`${namespace}/${name}`)} has an invalid value for ${field}: ${show(projection)}`
  );
}

const wakeUp = {
  cluster: text(),
  namespace: needs(isText(isDnsLabel), 'a DNS label of 1 to 63 characters is needed'),
  kind: oneOf(...workKinds),
  name: needs(
    isText((name) => name !== '' && (isLabelValue(name) || isDnsSubdomain(name))),
    'the name of a Service, an export or an import is needed',
  ),
  generation: needs(
    (value) => value === 'latest' || isCount(value),
    'a whole number, 0 or more, or "latest" is needed',
  ),
  retryNumbers: object,
  notBeforeMs: optional(timeMs),
  delayedByBatch: optional(oneOf(true, false)),
  latencyFromMs: optional(timeMs),
  requeues: optional(count),
  dueMs: optional(timeMs),
} satisfies Checks<keyof WakeUpMessage>;

const retryNumbersOf = (kind: WorkKind): Check => {
  const part = oneOf(...partsOf[kind]);
  return (value) =>
    firstReason(
      Object.entries(value as AnyFields),
      ([key, number]) => part(key, 'a key of retryNumbers') ?? count(number, key),
    );
};

/** Throws UnreadableMessage. */
export function readWakeUp(body: string): WakeUpMessage {
  const m = checked(decodeMessage(body), { v: ownVersion, ...wakeUp });
  checked(m, { retryNumbers: retryNumbersOf(m['kind'] as WorkKind) });
  return Object.fromEntries(
    Object.keys(wakeUp).flatMap((field) => (m[field] === undefined ? [] : [[field, m[field]]])),
  ) as unknown as WakeUpMessage;
}
