/**
 * The two controllers of kube-controller-manager whose work is done here, and the kind that each of them
 * writes.
 */
import type { OutputKind } from './types.ts';

export type Controller = 'endpoints' | 'slices';
export const controllers: readonly Controller[] = ['endpoints', 'slices'];
export const isController = (part: string): part is Controller => controllers.some((c) => c === part);

export const outputKindOf = { endpoints: 'Endpoints', slices: 'EndpointSlice' } as const satisfies {
  readonly [C in Controller]: OutputKind;
};
