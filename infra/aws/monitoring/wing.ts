/** The door of services across clusters (docs/use/clusterset.md): their alarms, and their series of a dashboard. */

import { clustersetAlarms } from '#infra/clusterset/monitoring/clusterset-alarms.ts';
import { clustersetCounts, clustersetDelays } from '#infra/clusterset/monitoring/clusterset-series.ts';
import type { Alarm } from './alarm.ts';
import type { Drawn } from './widgets.ts';

export const alarmParts: readonly (readonly Alarm[])[] = [clustersetAlarms];
export const countParts: readonly (readonly Drawn[])[] = [clustersetCounts];
export const delayParts: readonly (readonly Drawn[])[] = [clustersetDelays];
