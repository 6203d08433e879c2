/** The URL contains the view, so it can be bookmarked and the browser's back and forward keys work. */
export type Route =
  | { readonly view: 'fleet' }
  | { readonly view: 'clusterset' }
  /** A mistyped link, or one of another version. */
  | { readonly view: 'unknown' }
  | { readonly view: 'cluster'; readonly cluster: string | undefined }
  | {
      readonly view: 'services';
      readonly cluster: string | undefined;
      readonly namespace?: string;
      readonly service?: string;
      /** A moment of the service's history, ms since the epoch. */
      readonly atMs?: number;
      /** The title of the list's filter. */
      readonly filter?: string;
    };

export function parseRoute(hash: string): Route {
  const parts = partsOf(hash.replace(/\?.*$/, '').replace(/^#\/?/, ''));
  if (!parts) return { view: 'unknown' };
  const [view, cluster, namespace, service, at] = parts;
  if (view === 'cluster') return { view, cluster: cluster || undefined };
  if (view === 'services') {
    const atMs = at === undefined ? Number.NaN : Date.parse(at);
    const filter = /\?show=(.+)$/.exec(hash)?.[1];
    return {
      view,
      cluster: cluster || undefined,
      ...(namespace && service && { namespace, service }),
      ...(!Number.isNaN(atMs) && { atMs }),
      ...(filter && { filter: decodeURIComponent(filter) }),
    };
  }
  if (view === 'clusterset') return { view };
  return { view: view === '' || view === 'fleet' ? 'fleet' : 'unknown' };
}

/** Undefined for a percent sign that begins no character. */
function partsOf(path: string): readonly string[] | undefined {
  try {
    return path.split('/').map(decodeURIComponent);
  } catch {
    return undefined;
  }
}

export const hashOf = (...parts: readonly (string | undefined)[]): string =>
  `#/${parts.flatMap((p) => (p === undefined ? [] : encodeURIComponent(p))).join('/')}`;

/** The services of the cluster that a filter of their list shows. */
export const servicesHash = (cluster: string, filter: string): string =>
  `${hashOf('services', cluster)}?show=${encodeURIComponent(filter)}`;
