/** The state of a name's import in one cluster, as the exports of the name report it (MC-3, MC-80). */
import { createHash } from 'node:crypto';
import type { ExportFailure } from '#shared/clusterset/exports/conditions.ts';

export interface ImportState {
  /** A digest of each export that the import has, by exporting cluster. Empty if the import is not made. */
  readonly has: { readonly [cluster: string]: string };
  readonly failure?: ExportFailure;
}

/** `exportTexts`: the exports of the name, as text by cluster. */
export function stateOf(
  exportTexts: ReadonlyMap<string, string>,
  failure: ExportFailure | undefined,
): ImportState {
  const isMade = failure === undefined || failure.reason === 'Exported';
  const digests = isMade
    ? [...exportTexts].map(([cluster, exportText]) => [cluster, digestOf(exportText)] as const)
    : [];
  return { has: Object.fromEntries(digests), ...(failure && { failure }) };
}

export const confirms = ({ has }: ImportState, cluster: string, exportText: string): boolean =>
  has[cluster] === digestOf(exportText);

const digestOf = (exportText: string): string =>
  createHash('sha256').update(exportText).digest('base64url').slice(0, 12);
