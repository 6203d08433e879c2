import type { Fields, RawObject, StoreKind } from './api-kinds.ts';
import { badRequest } from './failure.ts';

export type Match = (object: RawObject) => boolean;

/** The objects that a list or a watch selects. */
export interface Target {
  readonly kind: StoreKind;
  readonly namespace: string;
  readonly query: URLSearchParams;
  readonly match: Match;
}

/** Parses a label selector of `a=b`, `a==b`, `a!=b`, `a` and `!a`, joined by commas. */
export const labelMatch = (text: string): Match => every(text, (key) => (o) => o.metadata.labels?.[key]);

export function fieldMatch(kind: StoreKind, text: string): Match {
  return every(text, (field) => {
    if (![...common, ...(special[kind] ?? [])].includes(field))
      throw badRequest(`field label not supported: ${field}`);
    return (o) =>
      String(field.split('.').reduce<unknown>((part, name) => (part as Fields | undefined)?.[name], o) ?? '');
  });
}

const common = ['metadata.name', 'metadata.namespace'];
const special: { readonly [K in StoreKind]?: readonly string[] } = {
  Pod: ['spec.nodeName', 'status.phase', 'status.podIP'],
  Event: ['involvedObject.kind', 'involvedObject.namespace', 'involvedObject.name', 'reason', 'type'],
};

function every(text: string, reader: (key: string) => (object: RawObject) => string | undefined): Match {
  const parts = text.split(',').filter(Boolean);
  const matches = parts.map((term): Match => {
    const [, not, key = '', op, wanted] = /^(!?)([\w./-]+)(?:(==?|!=)(.*))?$/.exec(term) ?? [];
    if (!key) throw badRequest(`unable to parse requirement: ${term}`);
    const value = reader(key);
    return op
      ? (o) => (value(o) === wanted) === (op !== '!=')
      : (o) => (value(o) === undefined) === (not === '!');
  });
  return (object) => matches.every((match) => match(object));
}
