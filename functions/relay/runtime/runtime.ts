import type { Limits } from '#shared/contract/limits.ts';
import type { Log } from '#shared/telemetry/port.ts';
import type { Clock } from './clock.ts';
import type { Meter } from './meter.ts';

/** Dependencies of every part of the relay. */
export interface Runtime {
  readonly clock: Clock;
  readonly log: Log;
  readonly meter: Meter;
  readonly limits: Limits;
}
