/**
 * `npm run test:deploy` plays a platform team's first day, on a local cloud that enforces IAM and on real control planes. Needs python3 and Go. Features that
 * the local cloud lacks are left out of the deployment, listed at the end, and asserted on the templates by test/infra.
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { notOnEmulator } from '#infra/stacks/emulator.ts';
import { type LocalCloud, startLocalCloud } from '#test/support/local-cloud.ts';
import { Deployment } from './deployment.ts';
import { firstDay } from './first-day.ts';

const notTriedHere: readonly string[] = [
  ...notOnEmulator,
  'cdk deploy --revert-drift: the local cloud finds what has drifted and does not put it right',
  'deletion protection and point-in-time recovery of the table',
  'metrics from log lines: alarms and dashboards are there, without data',
  'alarms with metric math, the windows of the objective’s',
  'new versions of ingest and sync in steps (CodeDeploy): they take over at once here, by the same alias',
  'sqs:SendMessage and sqs:ChangeMessageVisibility as the rights to batches of these (it wants names of their own)',
];

const folder = await mkdtemp(join(tmpdir(), 'fleet-endpoints-deploy-'));
const endings: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true, maxRetries: 5 })];
const end = async (): Promise<void> => {
  for (const ending of endings.splice(0).reverse()) await ending().catch((e: unknown) => console.error(`while cleaning up: ${e}`));
};
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void end().then(() => process.exit(1)));
// Each program that must not outlive this one listens for its end.
process.setMaxListeners(30);

let passed = 0;
let failed = 1;
try {
  const cloud = await startLocalCloud();
  endings.push(() => cloud.stop());
  await liveThrough(cloud);
} catch (e) {
  console.log(`NOT  ${e instanceof assert.AssertionError || !(e instanceof Error) ? e : e.message}`);
}
await end();
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed > 0 ? 1 : 0);

/** Step by step, until one fails: those after it need it, so they have failed too. */
async function liveThrough(cloud: LocalCloud): Promise<void> {
  const hub = new Deployment('FirstDay', cloud, folder);
  const day = firstDay(hub, new Deployment('Canary', cloud, folder), (ending) => endings.push(ending));
  failed = day.length;
  for (const { fact, check } of day) {
    const started = Date.now();
    try {
      await check();
    } catch (e) {
      const said = (await hub.logLines().catch((cause: unknown) => [String(cause)])).filter((line) => !/"_aws"|^(START|END|REPORT) /.test(line));
      console.log(`NOT  ${fact}\n     ${failed - 1} that come after it were not tried`);
      console.log(`the functions:\n${said.slice(-30).join('\n')}\nthe local cloud:\n${await cloud.log()}`);
      throw e;
    }
    passed++;
    failed--;
    console.log(`ok   ${fact} (${((Date.now() - started) / 1000).toFixed(1)} s)`);
  }
  for (const what of notTriedHere) console.log(`not on the local cloud, asserted by test/infra on the template where it is ours: ${what}`);
}
