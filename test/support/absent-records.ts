/** Records of a service before its first wake-up. */
import type { ServiceCounts } from '#shared/store/outputs/service-counts.ts';
import { decodeWork } from '#shared/workqueue/item-attributes.ts';
import { partState } from '#shared/workqueue/rules/item.ts';

export const noWork = decodeWork('service', undefined);
export const idlePart = partState(noWork, 'endpoints');
export const noCounts: ServiceCounts = { gauges: undefined, foreign: undefined, hints: undefined };
