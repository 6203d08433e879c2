/**
 * A test cuts each command of the operators' pages out of its page and runs it, or the command is listed with
 * the reason.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { program } from '#infra/cli/command/program.ts';
import { pageCommands } from '#test/e2e/deploy/page-command.ts';
import { unplanned } from '#test/e2e/package/operators-commands.ts';
import { commandsOf, operatorsPages } from '#test/support/page-commands.ts';

const commands = operatorsPages.flatMap(commandsOf);

/** Beginnings of commands that a test cuts out of its page. */
const tested: readonly string[] = [
  ...pageCommands,
  // test/e2e/package/constructs.test.ts and package.test.ts, in an empty folder.
  ...['npm init', 'npm install ./', 'npm install --global', 'npx cdk synth', 'npx cdk list'],
  // test/cluster/page-commands.test.ts, on a real API server.
  ...[
    'kubectl apply --server-side',
    'kubectl delete',
    'kubectl get --raw',
    'kubectl get endpointslices',
    'kubectl get serviceexports',
  ],
  ...[
    'kubectl auth can-i',
    'token=$(kubectl',
    'kubectl -n NAMESPACE annotate service',
    'kubectl -n NAMESPACE patch service',
  ],
  ...[
    'for c in shop-a shop-b; do\nkubectl',
    'kubectl --context shop-b -n web get serviceexport',
    'kubectl --context shop-a -n web get',
  ],
  ...[
    'kubectl create clusterrole coredns-multicluster',
    'kubectl create clusterrolebinding coredns-multicluster',
  ],
  ...[
    'kubectl -n fleet-endpoints get pods',
    'kubectl -n fleet-endpoints get lease',
    'kubectl -n fleet-endpoints rollout restart',
  ],
  // Below.
  'export TABLE_NAME=$(node',
];

/** Beginnings of the others, with the reason and the nearest test. */
const notRun: readonly (readonly [beginning: string, reason: string])[] = [
  ['npx cdk bootstrap', 'test/e2e/deploy runs it with the address of its cloud'],
  ['npx cdk deploy --all', 'test/e2e/deploy runs it with the address of its cloud'],
  ['npx cdk deploy Canary', 'test/e2e/deploy runs it with the address of its cloud'],
  ['npx cdk destroy', 'test/e2e/deploy runs it with the address of its cloud, and without the question'],
  ['npx cdk diff', 'it reads what test/e2e/deploy deploys'],
  ['npx cdk deploy FleetEndpoints-', 'the local cloud finds what has drifted and does not put it right'],
  ['cdk destroy', 'a part of a command: test/e2e/deploy runs it with the address of its cloud'],
  ['cdk deploy --revert-drift', 'the local cloud finds what has drifted and does not put it right'],
  [
    'kubectl -n fleet-endpoints rollout status',
    'the control planes of tests have no kubelet, so no pod starts',
  ],
  ['kubectl apply --dry-run=server', 'test/e2e/deploy runs it with each form of the manifest'],
  ['kubectl create token', 'a part of a command; test/cluster/page-commands.test.ts makes a token with it'],
  ['kubectl diff', 'a part of a command'],
  [
    'docker build',
    'test/e2e/package/dockerfile.test.ts builds the image where Docker is, and lints the file elsewhere',
  ],
  ['export AWS_REGION', 'a setting of the operator’s shell'],
  ['aws cloudformation describe-stacks', 'a part of a command; the runbook’s second line has all of it'],
  ['aws eks update-cluster-config', 'the local cloud lacks the operation'],
  ['aws iam enable-outbound-web-identity-federation', 'the local cloud lacks the operation'],
  ['aws eks describe-cluster', 'the local cloud’s EKS clusters have no API server, and so no authority'],
  [
    'aws dynamodb update-table --table-name $TABLE_NAME --billing-mode',
    'a table of the local cloud refuses no request',
  ],
  [
    'aws dynamodb list-backups',
    'the local cloud makes no backup of a deleted table; test/e2e/deploy makes one beforehand',
  ],
  ...(['npm ci', 'npm pack', 'npm start'] as const).map(
    (beginning) =>
      [
        beginning,
        'a step of a checkout, or a part of a command: .ci/run begins with it, or runs what it starts',
      ] as const,
  ),
  [
    'for c in shop-a shop-b; do for kind',
    'it downloads the definitions that test/support/control-plane/mcs-crds has',
  ],
  [
    'for c in shop-a shop-b; do\nfleet-endpoints',
    'it needs the outputs of a deploy: test/e2e/deploy applies the same manifest',
  ],
  [
    'kubectl --context shop-a -n web run',
    'the control planes of tests have no kubelet; test/cluster/packets sends requests to such a name',
  ],
  ['kubectl endpoints ', 'the package’s own command, as a plugin of kubectl'],
  ['kubectl -l', 'a part of a command'],
  ['aws deploy list-deployments', 'the local cloud lacks CodeDeploy'],
  [
    'aws arc-zonal-shift start-zonal-shift',
    'the local cloud lacks ARC; docs/operate/first-run-on-aws.md has the row',
  ],
  ['aws cloudformation continue-update-rollback', 'a stack of the local cloud gets stuck in no roll-back'],
  ['aws logs create-log-group', 'the local cloud takes lines of logs without a group'],
  ['aws logs put-subscription-filter', 'the local cloud sends no lines of logs'],
  [
    'kubectl get serviceimports',
    'it needs jq, which the tests do not require; test/clusterset/multi-cluster reads the same labels',
  ],
];

const own = /(?<!-n |=)(?:npx )?fleet-endpoints ((?:"[^"]*"|'[^']*'|[^|>;#)"'`])*)/;
const isOwn = (command: string): boolean => /^(npx )?fleet-endpoints /.test(command);
const isTested = (command: string): boolean => tested.some((beginning) => command.startsWith(beginning));

it('every command of the pages is the package’s own, has a test, or is listed with its reason', () => {
  expect(commands.length).toBeGreaterThan(100);
  const others = commands
    .map(({ command }) => command)
    .filter((command) => !isOwn(command) && !isTested(command));
  expect(others.filter((command) => !notRun.some(([beginning]) => command.startsWith(beginning)))).toEqual(
    [],
  );
  expect(
    notRun
      .map(([beginning]) => beginning)
      .filter((beginning) => !others.some((command) => command.startsWith(beginning))),
  ).toEqual([]);
  expect(
    tested.filter((beginning) => !commands.some(({ command }) => command.startsWith(beginning))),
  ).toEqual([]);
});

it('every command of the package in a page runs on a local run of two clusters, or is listed with its reason', () => {
  expect(unplanned()).toEqual([]);
});

it('the hub’s table is read from the outputs of a deploy', () => {
  const command = commands.find((c) => c.command.startsWith('export TABLE_NAME=$(node'))?.command;
  const folder = mkdtempSync(join(tmpdir(), 'page-commands-'));
  mkdirSync(join(folder, 'cdk.out'));
  writeFileSync(
    join(folder, 'cdk.out/outputs.json'),
    JSON.stringify({ 'FleetEndpoints-hub': { TableName: 'the-table' } }),
  );
  const { stdout } = spawnSync('bash', ['-c', `${command}; echo $TABLE_NAME`], {
    cwd: folder,
    encoding: 'utf8',
  });
  rmSync(folder, { recursive: true });
  expect(stdout.trim()).toBe('the-table');
});

describe('a shell', () => {
  it.each(commands)('a shell parses $command', ({ command }) => {
    const { status, stderr } = spawnSync('bash', ['-n', '-c', command], { encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });
});

/** The package's commands, without a redirection or a pipe. */
const ownCommands = [...new Set(commands.flatMap(({ command }) => own.exec(command)?.[1]?.trim() ?? []))];

/** The program with actions that do nothing. */
function idle(command: Command): Command {
  command.action(() => {}).configureOutput({ writeErr: () => {} });
  for (const below of command.commands) idle(below);
  return command;
}

describe('the command line', () => {
  it.each(ownCommands)('the command line takes: fleet-endpoints %s', async (text) => {
    const args = text.split(/\s+/);
    await idle(program()).parseAsync(args, { from: 'user' });
  });

  it.each(['cluster stop c', 'cluster list --nope', 'explain --nope', 'relay manifest a b'])(
    'the command line refuses: fleet-endpoints %s',
    async (text) => {
      await expect(idle(program()).parseAsync(text.split(' '), { from: 'user' })).rejects.toThrow();
    },
  );
});
