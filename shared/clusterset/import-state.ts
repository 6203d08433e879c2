/** The state of a name's import in one cluster, as the exports of the name report it (MC-3, MC-80). */
import { createHash } from 'node:crypto';
import type { ExportFailure } from './conditions.ts';

export interface ImportState {
  /** A digest of each export that the import has, by exporting cluster. Empty if the import is not made. */
  readonly has: { readonly [cluster: string]: string };
  readonly failure?: ExportFailure;
}

/** `faces`: the exports of the name, as text by cluster. */
export function stateOf(faces: ReadonlyMap<string, string>, failure: ExportFailure | undefined): ImportState {
  const isMade = failure === undefined || failure.reason === 'Exported';
  const digests = isMade ? [...faces].map(([cluster, face]) => [cluster, digestOf(face)] as const) : [];
  return { has: Object.fromEntries(digests), ...(failure && { failure }) };
}

export const confirms = ({ has }: ImportState, cluster: string, face: string): boolean => has[cluster] === digestOf(face);

const digestOf = (face: string): string => createHash('sha256').update(face).digest('base64url').slice(0, 12);
