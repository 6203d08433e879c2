/** Records of a service before its first wake-up. */
import type { ServiceCounts } from '#shared/store/service-counts.ts';
import { decodeWork } from '#shared/workqueue/item-store.ts';

export const noWork = decodeWork(undefined);
export const idleController = noWork.controllers.endpoints;
export const noCounts: ServiceCounts = { gauges: undefined, foreign: undefined, hints: undefined };
