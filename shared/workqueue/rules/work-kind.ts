/**
 * The kinds of work in the queue. Exports and imports have items of their own beside the item of the Service. The queue treats all items alike, with lease,
 * generations, retries and overdue work. A Service's name cannot contain a colon, so the names do not collide.
 */
export type WorkKind = 'service' | 'export' | 'import';

export interface Work {
  readonly kind: WorkKind;
  /** Name of the Service, the ServiceExport or the ServiceImport. */
  readonly name: string;
}

/** The item that publishes an export of the cluster and wakes its importers. */
export const exportWork = (name: string): string => `export:${name}`;
/** The item that imports a name into the cluster. */
export const importWork = (name: string): string => `import:${name}`;

export function parseWorkName(item: string): Work {
  const [kind, name] = item.split(':');
  return name !== undefined && (kind === 'export' || kind === 'import') ? { kind, name } : { kind: 'service', name: item };
}
