/**
 * `npm run test:deploy [-- first-day|ways-in|account]` plays a platform team's first day, the ways of a hub
 * into clusters, and the checks of an account. It needs python3 and Go, for a local cloud that enforces IAM
 * and for real control planes. Features that the local cloud lacks are left out of the deployment, listed at
 * the end, and asserted on the templates by test/infra.
 */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { notOnEmulator } from '#infra/aws/stacks/emulator.ts';
import { type LocalCloud, startLocalCloud } from '#test/support/aws/local-cloud.ts';
import { programArguments } from '#test/support/program-arguments.ts';
import { account } from './account.ts';
import { Deployment } from './deployment.ts';
import { firstDay } from './first-day.ts';
import { functionLog } from './function-log.ts';
import type { Step } from './step.ts';
import { waysIn } from './ways-in/ways-in.ts';

const notTriedHere: readonly string[] = [
  ...notOnEmulator,
  'cdk deploy --revert-drift: the local cloud finds what has drifted and does not put it right',
  'deletion protection of a table that CloudFormation makes',
  'Application Auto Scaling of a table with hub.capacity: the table has the least units, and keeps them',
  'metrics of SQS and DynamoDB',
  'metrics from log lines: alarms and dashboards are there, without data',
  'certificate authority and API server of an EKS cluster: real control planes with EKS’s authenticator have them',
  'alarms with metric math, the windows of the objective’s',
  'new versions of the worker in steps (CodeDeploy): they take over at once here, by the same alias',
  'sqs:SendMessage and sqs:ChangeMessageVisibility as the rights to batches of these (it wants names of their own)',
];

const folder = await mkdtemp(join(tmpdir(), 'fleet-endpoints-deploy-'));
const endings: (() => Promise<unknown>)[] = [
  () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
];
const atEnd = (ending: () => unknown): void => void endings.push(async () => ending());
const end = async (): Promise<void> => {
  for (const ending of endings.splice(0).reverse())
    await ending().catch((e: unknown) => console.error(`while cleaning up: ${e}`));
};
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void end().then(() => process.exit(1)));
// Each program that must not outlive this one listens for its end.
process.setMaxListeners(30);

const stories = {
  'first-day': (cloud: LocalCloud, into: string) =>
    firstDay(new Deployment('FirstDay', cloud, into), new Deployment('Canary', cloud, into), atEnd),
  'ways-in': (cloud: LocalCloud, into: string) => waysIn(cloud, into, atEnd),
  account: (cloud: LocalCloud, into: string) => account(cloud, into),
};
type Story = keyof typeof stories;
type Score = { readonly passed: number; readonly failed: number };
const { positionals } = programArguments({ allowPositionals: true });
const chosen = (positionals.length > 0 ? positionals : Object.keys(stories)) as Story[];
const unknown = chosen.filter((name) => !(name in stories));
if (unknown.length > 0) {
  console.error(`no story ${unknown.join(', ')}: there are ${Object.keys(stories).join(', ')}`);
  process.exit(2);
}

// Each on a cloud of its own, beside each other: a story waits for its cloud and for clocks most of its time.
const played: readonly Score[] = await Promise.all(
  chosen.map(async (name) => {
    const cloud = await startLocalCloud();
    atEnd(() => cloud.stop());
    const into = join(folder, name);
    await mkdir(into);
    return liveThrough(cloud, stories[name](cloud, into));
  }),
).catch((e: unknown) => {
  console.log(`NOT  ${e instanceof Error ? e.message : e}`);
  return [{ passed: 0, failed: 1 }];
});
await end();
for (const what of notTriedHere)
  console.log(`not on the local cloud, asserted by test/infra on the template where it is ours: ${what}`);
const sum = (of: 'passed' | 'failed'): number => played.map((story) => story[of]).reduce((a, b) => a + b);
console.log(`${sum('passed')} passed, ${sum('failed')} failed`);
process.exit(sum('failed') > 0 ? 1 : 0);

/** Plays step by step, until one fails. The steps after it need it, so they count as failed too. */
async function liveThrough(cloud: LocalCloud, steps: readonly Step[]): Promise<Score> {
  for (const [passed, { fact, check }] of steps.entries()) {
    const started = Date.now();
    try {
      await check();
    } catch (e) {
      const failed = steps.length - passed;
      const said = (await functionLog(cloud).catch((cause: unknown) => [String(cause)])).filter((line) =>
        !process.env['ALL'] ? !/"_aws"|^(START|END|REPORT) /.test(line) : true,
      );
      console.log(`NOT  ${fact}\n     ${failed - 1} that come after it were not tried`);
      console.log(`the functions:\n${said.slice(-30).join('\n')}\nthe local cloud:\n${await cloud.log()}`);
      console.log(e instanceof assert.AssertionError || !(e instanceof Error) ? e : e.message);
      return { passed, failed };
    }
    console.log(`ok   ${fact} (${((Date.now() - started) / 1000).toFixed(1)} s)`);
  }
  return { passed: steps.length, failed: 0 };
}
