/** Why an address of a source is not in an import, in words. */
import type { LeftOut, LeftOutReason } from './source-pods.ts';
import { maxEndpoints } from './source-pods.ts';

export function whyLeftOut(reason: LeftOutReason): string {
  switch (reason.kind) {
    case 'outside-cidrs':
      return 'outside of the ranges that its cluster may export (exports.podCidrs)';
    case 'collision': {
      const { cluster, pod } = reason.with;
      return `collision: ${pod === '' ? `a slice of ${cluster}, which stays as it is,` : `pod ${pod} of ${cluster}`} has the address on the same port`;
    }
    case 'too-many':
      return `an import has ${maxEndpoints.toLocaleString('en')} endpoints at most`;
  }
}

export const leftOutText = ({ cluster, pod, address, reason }: LeftOut): string => `${address} of pod ${pod} in ${cluster}: ${whyLeftOut(reason)}`;

/** The text for a source whose Pods have more bytes than a run reads. */
export const unreadText = (source: string): string => `slices of ${source} stay as they are: its pods of the namespace are too large to read`;
