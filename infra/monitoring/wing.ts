/** The door of services across clusters (docs/clusterset.md): their alarms, and their row of a dashboard. */
import type { Alarm } from './alarm.ts';
import { clustersetAlarms } from './clusterset-alarms.ts';
import { clustersetRow } from './clusterset-row.ts';
import type { Row } from './widgets.ts';

export const alarmParts: readonly (readonly Alarm[])[] = [clustersetAlarms];
export const rowParts: readonly Row[] = [clustersetRow];
