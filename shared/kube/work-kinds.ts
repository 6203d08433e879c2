/**
 * The kinds of work in the queue, and the parts of each. Exports and imports are work of their own, beside
 * that of the Service of their name.
 */
import { type Controller, controllers } from './controllers.ts';

export type WorkKind = 'service' | 'export' | 'import';
/**
 * What is done, retried and given up for itself: the two controllers of a Service, and an export or import as
 * a whole.
 */
export type Part = Controller | 'export' | 'import';

export const partsOf: { readonly [K in WorkKind]: readonly Part[] } = {
  service: controllers,
  export: ['export'],
  import: ['import'],
};
export const workKinds = Object.keys(partsOf) as readonly WorkKind[];

/** Returns "shop/web" for a Service, and "export shop/web" or "import shop/web" otherwise. */
export const workText = ({
  namespace,
  kind,
  name,
}: {
  readonly namespace: string;
  readonly kind: WorkKind;
  readonly name: string;
}): string => `${kind === 'service' ? '' : `${kind} `}${namespace}/${name}`;
