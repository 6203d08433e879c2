import { badRequest } from './failure.ts';
import type { RawObject, StoreKind } from './kinds.ts';

export type Match = (object: RawObject) => boolean;

/** `a=b`, `a==b`, `a!=b`, `a`, `!a`, `a in (b,c)`, `a notin (b,c)`, joined by commas. */
export function labelMatch(text: string): Match {
  const parts = text.split(/,(?![^(]*\))/).filter((p) => p.trim() !== '');
  return every(parts.map((part) => labelTerm(part.trim())));
}

function labelTerm(part: string): Match {
  const [, not, key = '', op, values] = /^(!?)\s*([\w./-]+)\s*(?:(==?|!=|in|notin)\s*(.*))?$/.exec(part) ?? [];
  if (!key) throw badRequest(`unable to parse requirement: ${part}`);
  if (!op) return (o) => key in (o.metadata.labels ?? {}) === !not;
  const wanted = op.endsWith('in') ? (values ?? '').replace(/[()\s]/g, '').split(',') : [(values ?? '').trim()];
  const positive = op === '=' || op === '==' || op === 'in';
  return (o) => {
    const value = o.metadata.labels?.[key];
    return positive === (value !== undefined && wanted.includes(value));
  };
}

const anyKind = ['metadata.name', 'metadata.namespace'];
const fieldsOfKind: { readonly [K in StoreKind]?: readonly string[] } = {
  Pod: ['spec.nodeName', 'spec.restartPolicy', 'status.phase', 'status.podIP'],
  Event: ['involvedObject.kind', 'involvedObject.namespace', 'involvedObject.name', 'involvedObject.uid', 'reason', 'type'],
  Service: ['spec.clusterIP', 'spec.type'],
  Namespace: ['status.phase'],
};

export function fieldMatch(kind: StoreKind, text: string): Match {
  const parts = text.split(',').filter((p) => p !== '');
  return every(
    parts.map((part) => {
      const [, field = '', op, wanted] = /^([\w.]+)(==?|!=)(.*)$/.exec(part) ?? [];
      if (![...anyKind, ...(fieldsOfKind[kind] ?? [])].includes(field)) throw badRequest(`field label not supported: ${field || part}`);
      return (o: RawObject) => (valueAt(o, field) === wanted) === (op !== '!=');
    }),
  );
}

const valueAt = (object: unknown, path: string): string =>
  String(path.split('.').reduce<unknown>((o, field) => (o as Record<string, unknown> | undefined)?.[field], object) ?? '');

const every =
  (terms: readonly Match[]): Match =>
  (object) =>
    terms.every((term) => term(object));
