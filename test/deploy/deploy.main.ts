/**
 * `npm run test:deploy`: a platform team's first day, on a local cloud that enforces IAM and on real control planes. Needs python3 and Go. What the local
 * cloud can't do is left out of the deployment, listed at the end, and asserted on the templates by test/infra.
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startLocalCloud } from '#test/support/local-cloud.ts';
import { Deployment } from './deployment.ts';
import { firstDay } from './first-day.ts';

const folder = await mkdtemp(join(tmpdir(), 'fleet-endpoints-deploy-'));
const endings: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true, maxRetries: 5 })];
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

// Each program that must not outlive this one listens for its end.
process.setMaxListeners(30);

let passed = 0;
let failed = 0;
try {
  const cloud = await startLocalCloud();
  endings.push(() => cloud.stop());
  const deployment = new Deployment('FirstDay', cloud, folder);
  const day = firstDay(deployment, new Deployment('Canary', cloud, folder), (ending) => endings.push(ending));
  failed = day.length;
  for (const { fact, check } of day) {
    const started = Date.now();
    try {
      await check();
    } catch (e) {
      console.log(
        `NOT  ${fact}\n${e instanceof assert.AssertionError || !(e instanceof Error) ? e : e.message}\nthe functions:\n${await deployment.functionLogs().catch(String)}\nthe local cloud:\n${await cloud.log()}`,
      );
      break;
    }
    passed++;
    failed--;
    console.log(`ok   ${fact} (${((Date.now() - started) / 1000).toFixed(1)} s)`);
  }
  if (failed > 1) console.log(`     ${failed - 1} that come after it were not tried`);
  for (const line of deployment.leftOut) console.log(`left out on the local cloud, and asserted on the template by test/infra: ${line}`);
} catch (e) {
  failed = Math.max(failed, 1);
  console.log(`NOT  ${e instanceof Error ? e.message : e}`);
} finally {
  for (const ending of endings.reverse()) await ending().catch((e: unknown) => console.error(`while cleaning up: ${e}`));
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed > 0 ? 1 : 0);
