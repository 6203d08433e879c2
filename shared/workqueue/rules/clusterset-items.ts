/**
 * Work of a clusterset in the work queue: items of their own, beside that of the Service. No Service has a name with a colon, so neither meets the
 * other, and everything that the queue does for a service (lease, generations, retries, overdue work) it does for these.
 */
export type ClustersetWork = { readonly kind: 'export' | 'import'; readonly name: string };

/** What a cluster says about an export of its own, and the wake-ups of its importers. */
export const exportWork = (name: string): string => `export:${name}`;
/** The import of a name in one cluster. */
export const importWork = (name: string): string => `import:${name}`;

export function clustersetWorkOf(item: string): ClustersetWork | undefined {
  const [kind, name] = item.split(':');
  return name !== undefined && (kind === 'export' || kind === 'import') ? { kind, name } : undefined;
}
