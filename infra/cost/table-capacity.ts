import { price } from './prices.ts';

export interface Units {
  readonly reads: number;
  readonly writes: number;
}

/** Share of the provisioned units that auto scaling aims at. */
export const targetUse = 0.7;
const hourSeconds = 3600;

export const onDemandDollars = ({ reads, writes }: Units): number => reads * price.readUnit + writes * price.writeUnit;

/** Bill of one hour of provisioned units, each a unit a second. */
export const provisionedDollars = ({ reads, writes }: Units): number => reads * price.readUnitHour + writes * price.writeUnitHour;

/** The use of provisioned units at which both capacities cost the same: above it, provisioned ones cost less. */
export const breakEvenUse: Units = {
  reads: price.readUnitHour / (hourSeconds * price.readUnit),
  writes: price.writeUnitHour / (hourSeconds * price.writeUnit),
};

/**
 * Returns the units that auto scaling provisions in each hour. `perSecond` has the used units of each step, of which an hour has `stepsAnHour`. AWS bills
 * the highest number of an hour. Scaling down takes about an hour, so the hour before counts too.
 */
export function scaledUnits(perSecond: readonly number[], stepsAnHour: number, min = 1): readonly number[] {
  const peaks = Array.from({ length: Math.ceil(perSecond.length / stepsAnHour) }, (_, hour) =>
    Math.max(0, ...perSecond.slice(hour * stepsAnHour, (hour + 1) * stepsAnHour)),
  );
  return peaks.map((peak, hour) => Math.max(min, Math.ceil(Math.max(peak, peaks[hour - 1] ?? 0) / targetUse)));
}
