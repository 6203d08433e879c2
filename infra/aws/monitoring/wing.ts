/** The door of services across clusters (docs/clusterset.md): their alarms, and their row of a dashboard. */

import { clustersetAlarms } from '#infra/clusterset/monitoring/clusterset-alarms.ts';
import { clustersetRow } from '#infra/clusterset/monitoring/clusterset-row.ts';
import type { Alarm } from './alarm.ts';
import type { Row } from './widgets.ts';

export const alarmParts: readonly (readonly Alarm[])[] = [clustersetAlarms];
export const rowParts: readonly Row[] = [clustersetRow];
