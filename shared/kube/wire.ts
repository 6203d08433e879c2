import type { V1ObjectMeta } from '@kubernetes/client-node';

/** A client-node model as JSON: dates are text, everything is read-only. */
export type Wire<T> = T extends Date
  ? string
  : T extends readonly (infer U)[]
    ? readonly Wire<U>[]
    : T extends object
      ? { readonly [K in keyof T]: Wire<T[K]> }
      : T;

export type ObjectMeta = Wire<V1ObjectMeta> & { readonly name: string };
