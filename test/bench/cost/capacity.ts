import { breakEvenUse, onDemandDollars, provisionedDollars, targetUse, type Units } from '#infra/cost/table-capacity.ts';

const uses = [targetUse, 0.5, 0.3, 0.2, 0.1];
const hoursAMonth = 30 * 24;

/** The table's bill by capacity. `each`: units that one cluster uses in a month. */
export function printCapacity(each: Units, fleets: readonly number[]): void {
  const { writes, reads } = breakEvenUse;
  const percent = (share: number): string => `${(share * 100).toFixed(0)} %`;
  console.log('\nThe table and its index by capacity (US dollars a month)\n');
  console.log(`| | ${fleets.map((n) => `${n} ${n === 1 ? 'cluster' : 'clusters'}`).join(' | ')} |`);
  console.log(`| --- |${fleets.map(() => ' --- |').join('')}`);
  const row = (what: string, dollarsEach: number): void =>
    console.log(`| ${what} | ${fleets.map((n) => (n * dollarsEach).toFixed(n * dollarsEach < 10 ? 2 : 0)).join(' | ')} |`);
  row('on demand', onDemandDollars(each));
  const unitsASecond = (of: number): number => of / hoursAMonth / 3600;
  for (const use of uses) {
    const provisioned = { reads: unitsASecond(each.reads) / use, writes: unitsASecond(each.writes) / use };
    row(`provisioned, ${percent(use)} of it used on the average`, hoursAMonth * provisionedDollars(provisioned));
  }
  console.log(`\nProvisioned units cost less above a mean use of ${percent(writes)} for writes and ${percent(reads)} for reads.\n`);
}
