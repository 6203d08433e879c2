import { price } from './prices.ts';

interface Units {
  readonly reads: number;
  readonly writes: number;
}

/** Shares of the provisioned units that are used. Auto scaling aims at the first. */
const uses = [0.7, 0.5, 0.3, 0.2, 0.1];
const hourSeconds = 3600;
const hoursAMonth = 30 * 24;

const onDemandDollars = ({ reads, writes }: Units): number =>
  reads * price.readUnit + writes * price.writeUnit;

/** Bill of one hour of provisioned units, each a unit a second. */
const provisionedDollars = ({ reads, writes }: Units): number =>
  reads * price.readUnitHour + writes * price.writeUnitHour;

/**
 * The use of provisioned units at which both capacities cost the same: above it, provisioned ones cost less.
 */
const breakEvenUse: Units = {
  reads: price.readUnitHour / (hourSeconds * price.readUnit),
  writes: price.writeUnitHour / (hourSeconds * price.writeUnit),
};

/** The table's bill by capacity. `each`: units that one cluster uses in a month. */
export function printCapacity(each: Units, fleets: readonly number[]): void {
  const { writes, reads } = breakEvenUse;
  const percent = (share: number): string => `${(share * 100).toFixed(0)} %`;
  console.log('\nThe table and its index by capacity (US dollars a month)\n');
  console.log(`| | ${fleets.map((n) => `${n} ${n === 1 ? 'cluster' : 'clusters'}`).join(' | ')} |`);
  console.log(`| --- |${fleets.map(() => ' --- |').join('')}`);
  const row = (what: string, dollarsEach: number): void =>
    console.log(
      `| ${what} | ${fleets.map((n) => (n * dollarsEach).toFixed(n * dollarsEach < 10 ? 2 : 0)).join(' | ')} |`,
    );
  row('on demand', onDemandDollars(each));
  const unitsASecond = (of: number): number => of / hoursAMonth / hourSeconds;
  for (const use of uses) {
    const provisioned = { reads: unitsASecond(each.reads) / use, writes: unitsASecond(each.writes) / use };
    row(
      `provisioned, ${percent(use)} of it used on the average`,
      hoursAMonth * provisionedDollars(provisioned),
    );
  }
  console.log(
    `\nProvisioned units cost less above a mean use of ${percent(writes)} for writes and ${percent(reads)} for reads.\n`,
  );
}
