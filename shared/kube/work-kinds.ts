/** The kinds of work in the queue. Services have one, and services across clusters have two of their own, each with an item beside the Service's. */
export type WorkKind = 'service' | 'export' | 'import';
export const workKinds: readonly WorkKind[] = ['service', 'export', 'import'];

/** Returns "shop/web" for a Service, and "export shop/web" or "import shop/web" otherwise. */
export const workText = ({ namespace, kind, name }: { readonly namespace: string; readonly kind: WorkKind; readonly name: string }): string =>
  `${kind === 'service' ? '' : `${kind} `}${namespace}/${name}`;
