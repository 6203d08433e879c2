/** The URL contains the view, so it can be bookmarked and the browser's back and forward keys work. */
export type Route =
  | { readonly view: 'fleet' }
  | { readonly view: 'clusterset' }
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
  const [view, cluster, namespace, service, at] = hash
    .replace(/\?.*$/, '')
    .replace(/^#\/?/, '')
    .split('/')
    .map(decodeURIComponent);
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
  return view === 'clusterset' ? { view } : { view: 'fleet' };
}

export const hashOf = (...parts: readonly (string | undefined)[]): string =>
  `#/${parts.flatMap((p) => (p === undefined ? [] : encodeURIComponent(p))).join('/')}`;

/** The services of the cluster that a filter of their list shows. */
export const servicesHash = (cluster: string, filter: string): string =>
  `${hashOf('services', cluster)}?show=${encodeURIComponent(filter)}`;
