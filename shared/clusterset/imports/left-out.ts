/** Why an address of a source is not in an import, in words. */
import type { LeftOut, LeftOutReason } from './source-pods.ts';
import { maxEndpoints } from './source-pods.ts';

const limit = `an import has ${maxEndpoints.toLocaleString('en')} endpoints at most`;

/** Texts for conditions. They have no numbers, and change only with the clusters that they name. */
export function leftOutNotes({ leftOut }: { readonly leftOut: readonly LeftOut[] }): readonly string[] {
  const clustersOf = (kind: LeftOutReason['kind']): string =>
    [...new Set(leftOut.filter(({ reason }) => reason.kind === kind).map(({ cluster }) => cluster))].join(
      ', ',
    );
  const [limited, outside] = [clustersOf('too-many'), clustersOf('outside-cidrs')];
  return [
    ...(limited === '' ? [] : [`${limit}: some of ${limited} are left out`]),
    ...(outside === ''
      ? []
      : [`addresses of ${outside} are left out: they are outside of the ranges of exports.podCidrs`]),
  ];
}

export function whyLeftOut(reason: LeftOutReason): string {
  switch (reason.kind) {
    case 'outside-cidrs':
      return 'outside of the ranges that its cluster may export (exports.podCidrs)';
    case 'collision': {
      const { cluster, pod } = reason.with;
      return `collision: ${pod === '' ? `a slice of ${cluster}, which stays as it is,` : `pod ${pod} of ${cluster}`} has the address on the same port`;
    }
    case 'too-many':
      return limit;
  }
}

export const leftOutText = ({ cluster, pod, address, reason }: LeftOut): string =>
  `${address} of pod ${pod} in ${cluster}: ${whyLeftOut(reason)}`;

/** The text for a source whose export has larger Pods than importers read. */
export const unreadText = (source: string): string =>
  `slices of ${source} stay as they are: the pods of its export are too large`;
