/**
 * The fields of an Endpoint. Comparisons and the texts for people follow from this list. A new field of the
 * API is one entry here. CONTRIBUTING.md, "A new field of Pod or Endpoint", has the other steps.
 */
import type { Endpoint } from './types.ts';

export type EndpointHints = NonNullable<Endpoint['hints']>;

/** The key of a field, or of a field of an object in it, as in `conditions.ready`. */
export type EndpointPath = {
  [K in keyof Endpoint & string]-?: PathsIn<K, NonNullable<Endpoint[K]>>;
}[keyof Endpoint & string];
type PathsIn<K extends string, T> = T extends string | readonly unknown[]
  ? K
  : string extends keyof T
    ? K
    : `${K}.${keyof T & string}`;

export interface EndpointField {
  /** In texts for people. */
  readonly label: string;
  /**
   * Equal values are identical. Undefined if the field is missing, null, or empty where the API server leaves
   * out an empty one.
   */
  readonly read: (endpoint: Partial<Endpoint>) => string | boolean | undefined;
  /**
   * The comparison of upstream in which the field counts. `key`: of the key in its set of endpoints (ES-28).
   * `content`: of endpoints with the same key (ES-30). `hints`: of hints, which are decided apart. Left out:
   * upstream compares the field nowhere, and never writes it.
   */
  readonly comparedAs?: 'key' | 'content' | 'hints';
  /** The texts of a history and of explain show it beside the address, the Pod and the state. */
  readonly isDetail?: true;
}

export const endpointFields: { readonly [P in EndpointPath]: EndpointField } = {
  addresses: { label: 'addresses', read: ({ addresses }) => inOrder(addresses), comparedAs: 'key' },
  // The key of upstream's set has the whole reference. Ours is a map by the Pod's name (endpoint-set.ts).
  'targetRef.name': {
    label: 'pod',
    read: ({ targetRef }) => targetRef?.name || undefined,
    comparedAs: 'content',
  },
  'conditions.ready': {
    label: 'ready',
    read: ({ conditions }) => conditions?.ready ?? undefined,
    comparedAs: 'content',
  },
  'conditions.serving': {
    label: 'serving',
    read: ({ conditions }) => conditions?.serving ?? undefined,
    comparedAs: 'content',
  },
  'conditions.terminating': {
    label: 'terminating',
    read: ({ conditions }) => conditions?.terminating ?? undefined,
    comparedAs: 'content',
  },
  hostname: {
    label: 'hostname',
    read: ({ hostname }) => hostname || undefined,
    comparedAs: 'key',
    isDetail: true,
  },
  nodeName: {
    label: 'node',
    read: ({ nodeName }) => nodeName ?? undefined,
    comparedAs: 'content',
    isDetail: true,
  },
  zone: { label: 'zone', read: ({ zone }) => zone ?? undefined, comparedAs: 'content', isDetail: true },
  'hints.forZones': {
    label: 'forZones',
    read: ({ hints }) => namesIn(hints?.forZones),
    comparedAs: 'hints',
    isDetail: true,
  },
  'hints.forNodes': {
    label: 'forNodes',
    read: ({ hints }) => namesIn(hints?.forNodes),
    comparedAs: 'hints',
    isDetail: true,
  },
  'targetRef.namespace': {
    label: 'namespace',
    read: ({ targetRef }) => targetRef?.namespace || undefined,
    comparedAs: 'key',
  },
  'targetRef.uid': {
    label: 'uid',
    read: ({ targetRef }) => targetRef?.uid || undefined,
    comparedAs: 'content',
  },
  'targetRef.kind': {
    label: 'kind',
    read: ({ targetRef }) => targetRef?.kind || undefined,
    comparedAs: 'content',
  },
  'targetRef.apiVersion': {
    label: 'apiVersion',
    read: ({ targetRef }) => targetRef?.apiVersion || undefined,
    comparedAs: 'content',
  },
  'targetRef.fieldPath': {
    label: 'fieldPath',
    read: ({ targetRef }) => targetRef?.fieldPath || undefined,
    comparedAs: 'content',
  },
  'targetRef.resourceVersion': {
    label: 'resourceVersion',
    read: ({ targetRef }) => targetRef?.resourceVersion || undefined,
  },
  deprecatedTopology: {
    label: 'deprecatedTopology',
    read: ({ deprecatedTopology }) => deprecatedTopology && JSON.stringify(deprecatedTopology),
    isDetail: true,
  },
};

/** Most endpoints have one address, which is its own text. */
function inOrder(addresses: readonly string[] | null | undefined): string | undefined {
  if (!addresses || addresses.length < 2) return addresses?.[0];
  return [...addresses].sort().join();
}

function namesIn(list: readonly { readonly name: string }[] | null | undefined): string | undefined {
  if (!list || list.length < 2) return list?.[0]?.name;
  return list.map(({ name }) => name).join();
}

type Value = EndpointField['read'];
const fields = Object.values(endpointFields);
const comparedAs = (what: EndpointField['comparedAs']): readonly Value[] =>
  fields.filter((f) => f.comparedAs === what).map((f) => f.read);
const [keyValues, contentValues, hintValues] = [
  comparedAs('key'),
  comparedAs('content'),
  comparedAs('hints'),
];
const referenceValues = Object.entries(endpointFields).flatMap(([path, f]) =>
  path.startsWith('targetRef.') && f.comparedAs ? [f.read] : [],
);
const detailFields = fields.filter((f) => f.isDetail);

function same(values: readonly Value[], a: Partial<Endpoint>, b: Partial<Endpoint>): boolean {
  for (const read of values) if (read(a) !== read(b)) return false;
  return true;
}

/** Compares the addresses in any order, the hostname and the Pod's namespace (ES-28). */
export const equalKeys = (a: Endpoint, b: Endpoint): boolean => same(keyValues, a, b);

/** Compares every field of an endpoint that upstream writes, except its key and its hints (ES-30). */
export const equalBeyondKey = (a: Endpoint, b: Endpoint): boolean =>
  !a.targetRef === !b.targetRef && same(contentValues, a, b);

/** Compares the references, versions apart: of an endpoint, or of an address of Endpoints. */
export const samePods = (a: Partial<Endpoint>, b: Partial<Endpoint>): boolean =>
  !a.targetRef === !b.targetRef && same(referenceValues, a, b);

export function sameHints(a: EndpointHints | undefined, b: EndpointHints | undefined): boolean {
  return a && b ? same(hintValues, { hints: a }, { hints: b }) : a === b;
}

/** The whole endpoint on one line: `10.0.0.1 pod=web-1 … ready=true`. */
export function endpointText(endpoint: Endpoint): string {
  const [addresses, ...others] = fields.map(({ label, read }) => ({ label, value: read(endpoint) }));
  return [
    addresses?.value ?? '',
    ...others.flatMap(({ label, value }) => (value === undefined ? [] : [`${label}=${value}`])),
  ].join(' ');
}

/** `ready`, `not ready` and, in slices, whether the Pod is terminating and still serving. */
export function stateText({ conditions }: Endpoint): string {
  const ending = conditions?.terminating
    ? conditions.serving
      ? ', terminating and serving'
      : ', terminating'
    : '';
  return `${conditions?.ready === false ? 'not ready' : 'ready'}${ending}`;
}

/** Fields that are neither address, Pod nor state, by their label. */
export function detailsOf(endpoint: Endpoint): { readonly [label: string]: string } {
  const details: Record<string, string> = {};
  for (const { label, read } of detailFields) {
    const value = read(endpoint);
    if (value) details[label] = String(value);
  }
  return details;
}
