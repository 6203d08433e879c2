/** Clients that have written the content of Endpoints or of a slice, by managedFields. */
import { fieldManager } from '#shared/contract/managed-by.ts';
import type { EndpointSlice, Endpoints } from './types.ts';

export interface LastWrite {
  readonly manager: string;
  /** ms since the epoch. */
  readonly atMs: number;
}

/** Returns the last write to addresses or ports; undefined if managedFields name no such write. */
export function lastContentWrite({ metadata: { managedFields } }: Pick<Endpoints | EndpointSlice, 'metadata'>): LastWrite | undefined {
  let last: LastWrite | undefined;
  for (const { manager = '', time, fieldsV1, subresource } of managedFields ?? []) {
    if (subresource || (fieldsV1 && !contentFields.some((f) => f in fieldsV1))) continue;
    const at = Date.parse(time ?? '') || 0;
    if (!last || at >= last.atMs) last = { manager, atMs: at };
  }
  return last;
}

/** Each is atomic, so its last writer is its only manager. */
const contentFields = ['f:subsets', 'f:endpoints', 'f:ports'];

/** This hub or another one. */
export const isHub = (manager: string): boolean => manager.startsWith(`${fieldManager}-`);

/** Distributions that run kube-controller-manager inside a process of their own write under the name of that process. */
export const isBuiltInController = (manager: string): boolean => ['kube-controller-manager', 'k3s', 'kubelite'].includes(manager);

/** A person at a terminal. */
export const isKubectl = (manager: string): boolean => manager.startsWith('kubectl');
