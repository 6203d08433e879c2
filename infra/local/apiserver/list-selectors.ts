import { selectorMatches } from '#shared/kube/selectors/label-selector.ts';
import { parseLabelSelector } from '#shared/kube/selectors/parser.ts';
import type { Fields, RawObject, StoreKind } from './api-kinds.ts';
import { badRequest } from './failure.ts';

export type Match = (object: RawObject) => boolean;

/** The objects that a list or a watch selects. */
export interface Target {
  readonly kind: StoreKind;
  readonly namespace: string;
  readonly query: URLSearchParams;
  readonly match: Match;
  /** The client asks for a table for people. */
  readonly table: boolean;
}

export function labelMatch(text: string): Match {
  const { requirements, error } = parseLabelSelector(text);
  if (error !== undefined) throw badRequest(error);
  return ({ metadata }) => selectorMatches(requirements, metadata.labels);
}

/** Parses `a=b`, `a==b` and `a!=b`, joined by commas. */
export function fieldMatch(kind: StoreKind, text: string): Match {
  const terms = text.split(',').filter(Boolean);
  const matches = terms.map((term): Match => {
    const [, field = '', operator, wanted] = /^([\w./-]+)(==?|!=)(.*)$/.exec(term) ?? [];
    if (!field) throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`);
    if (![...common, ...(special[kind] ?? [])].includes(field))
      throw badRequest(`field label not supported: ${field}`);
    const valueIn = (object: RawObject): string =>
      String(
        field.split('.').reduce<unknown>((part, name) => (part as Fields | undefined)?.[name], object) ?? '',
      );
    return (object) => (valueIn(object) === wanted) === (operator !== '!=');
  });
  return (object) => matches.every((match) => match(object));
}

const common = ['metadata.name', 'metadata.namespace'];
const special: { readonly [K in StoreKind]?: readonly string[] } = {
  Pod: ['spec.nodeName', 'status.phase', 'status.podIP'],
  Event: ['involvedObject.kind', 'involvedObject.namespace', 'involvedObject.name', 'reason', 'type'],
};
