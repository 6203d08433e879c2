/**
 * `npm run bench -- cost`: what a change of a pod costs, and the bill of a month, in Markdown for
 * docs/operate/cost.md. The real ingest, sync and sweep run over a table, queues and logs in memory that count as AWS
 * bills; what a batch takes of Lambda is an estimate for AWS (cost/prices.ts).
 */
import { costOfChanges, costOfHistory, printChanges } from './cost/changes.ts';
import { printExports } from './cost/exports.ts';
import { printFleetBill } from './cost/fleet-bill.ts';
import { printIdleDay } from './cost/idle-day.ts';

const costs = await costOfChanges();
printChanges(costs);
await printExports();
await printIdleDay();
const [usual] = costs;
if (usual) await printFleetBill(usual, await costOfHistory());
