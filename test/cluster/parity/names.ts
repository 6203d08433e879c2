import type { Api } from '#test/e2e/api.ts';

/** Objects of the script, so random values of a server can be replaced by names. */
export interface Names {
  /** As in `Pod web-1 #2`: the second of that name. */
  of(uid: string): string | undefined;
  /** Whether an object is the script's own. */
  has(uid: string | undefined): boolean;
  /** When the services of that name were made, newest last. */
  creations(namespace: string, service: string): readonly string[];
}

/** The same API, with everything that is made through it noted. */
export function namedApi(api: Api): { readonly api: Api; readonly names: Names } {
  const names = new Map<string, string>();
  const counts = new Map<string, number>();
  const creations = new Map<string, string[]>();
  const note = (
    kind: string,
    namespace: string,
    { name, uid, creationTimestamp }: { name?: string; uid?: string; creationTimestamp?: string },
  ) => {
    const what = `${kind} ${name}`;
    const count = (counts.get(`${what} ${namespace}`) ?? 0) + 1;
    counts.set(`${what} ${namespace}`, count);
    names.set(uid ?? '', `${what} #${count}`);
    if (kind === 'Service')
      creations.set(`${namespace}/${name}`, [
        ...(creations.get(`${namespace}/${name}`) ?? []),
        creationTimestamp ?? '',
      ]);
  };
  return {
    names: {
      of: (uid) => names.get(uid),
      has: (uid) => uid !== undefined && names.has(uid),
      creations: (namespace, service) => creations.get(`${namespace}/${service}`) ?? [],
    },
    api: {
      ...api,
      async create(kind, namespace, object) {
        const made = await api.create(kind, namespace, object);
        note(kind, namespace, made.metadata ?? {});
        return made;
      },
    },
  };
}
