import { badRequest } from './failure.ts';
import type { RawObject, StoreKind } from './kinds.ts';

export type Match = (object: RawObject) => boolean;

/** `a=b`, `a==b`, `a!=b`, `a`, `!a`, joined by commas. */
export function labelMatch(text: string): Match {
  return every(text, (part) => {
    const [, not, key = '', op, wanted] = /^(!?)([\w./-]+)(?:(==?|!=)(.*))?$/.exec(part) ?? [];
    if (!key) throw badRequest(`unable to parse requirement: ${part}`);
    if (!op) return (o) => key in (o.metadata.labels ?? {}) === !not;
    return (o) => (o.metadata.labels?.[key] === wanted) === (op !== '!=');
  });
}

const common = ['metadata.name', 'metadata.namespace'];
const special: { readonly [K in StoreKind]?: readonly string[] } = {
  Pod: ['spec.nodeName', 'status.phase', 'status.podIP'],
  Event: ['involvedObject.kind', 'involvedObject.namespace', 'involvedObject.name', 'reason', 'type'],
};

export function fieldMatch(kind: StoreKind, text: string): Match {
  return every(text, (part) => {
    const [, field = '', op, wanted] = /^([\w.]+)(==?|!=)(.*)$/.exec(part) ?? [];
    if (![...common, ...(special[kind] ?? [])].includes(field)) throw badRequest(`field label not supported: ${field || part}`);
    return (o) => (valueAt(o, field) === wanted) === (op !== '!=');
  });
}

const valueAt = (object: unknown, path: string): string =>
  String(path.split('.').reduce<unknown>((o, field) => (o as Record<string, unknown> | undefined)?.[field], object) ?? '');

function every(text: string, term: (part: string) => Match): Match {
  const terms = text.split(',').filter(Boolean).map(term);
  return (object) => terms.every((matches) => matches(object));
}
