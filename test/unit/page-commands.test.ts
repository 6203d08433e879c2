/** Every command in a code block of the operators' pages is checked by its own parser, run by a test, or listed with the reason. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { program } from '#infra/command/program.ts';
import { pageCommands } from '#test/deploy/page-command.ts';
import { commandsOf } from '#test/support/page-commands.ts';

const pages = ['docs/getting-started.md', 'docs/upgrading.md', 'docs/runbook.md'];
const commands = pages.flatMap(commandsOf);

/** Commands that a test cuts out of its page and runs or compares, by the test. */
const tested: { readonly [command: string]: string } = {
  'kubectl apply --server-side -f relay.yaml': 'test/cluster/page-commands.test.ts',
  'kubectl -n fleet-endpoints rollout restart deployment relay': 'test/cluster/page-commands.test.ts',
  'kubectl delete serviceimports -A -l app.kubernetes.io/managed-by=fleet-endpoints': 'test/cluster/page-commands.test.ts',
  "token=$(kubectl -n fleet-endpoints get secret writer-token -o jsonpath='{.data.token}' | base64 -d)": 'test/cluster/page-commands.test.ts',
  'aws secretsmanager put-secret-value --secret-id factory-2 --secret-string "{\\"token\\": \\"$token\\"}"': 'test/cluster/page-commands.test.ts',
};

/** Beginnings of commands that a test cuts out of its page with others. */
const testedTogether: readonly string[] = [
  ...pageCommands,
  // test/package/constructs.test.ts and package.test.ts, in an empty folder.
  ...['npm init', 'npm install ./', 'npm install --global', 'npx cdk synth'],
  // Below.
  'export TABLE_NAME=$(node',
];

/** Beginnings of the others, with the reason and the nearest test. */
const notRun: readonly (readonly [beginning: string, reason: string])[] = [
  ['npx cdk bootstrap', 'test/deploy runs it with the address of its cloud'],
  ['npx cdk deploy', 'test/deploy runs it with the address of its cloud'],
  ['kubectl -n fleet-endpoints rollout status', 'the control planes of tests have no kubelet, so no pod starts'],
  ['export AWS_REGION', 'a setting of the operator’s shell'],
  ['aws eks describe-cluster', 'the local cloud’s EKS clusters have no API server, and so no authority'],
  ['aws dynamodb list-backups', 'the local cloud makes no backup of a deleted table; test/deploy makes one beforehand'],
  ['kubectl get serviceimports', 'it needs jq, which the tests do not require; test/multi-cluster reads the same labels'],
];

const own = /npx fleet-endpoints ((?:"[^"]*"|'[^']*'|[^|>;#)"'`])*)/;
const isOwn = (command: string): boolean => command.startsWith('npx fleet-endpoints ');
const isTested = (command: string): boolean => testedTogether.some((beginning) => command.startsWith(beginning));

it('every command of the pages is the package’s own, has a test, or is listed with its reason', () => {
  expect(commands.length).toBeGreaterThan(40);
  const others = commands.map(({ command }) => command).filter((command) => !isOwn(command) && !isTested(command) && !(command in tested));
  expect(others.filter((command) => !notRun.some(([beginning]) => command.startsWith(beginning)))).toEqual([]);
  expect(notRun.map(([beginning]) => beginning).filter((beginning) => !others.some((command) => command.startsWith(beginning)))).toEqual([]);
  expect(Object.keys(tested).filter((command) => !commands.some((c) => c.command === command))).toEqual([]);
  expect(testedTogether.filter((beginning) => !commands.some(({ command }) => command.startsWith(beginning)))).toEqual([]);
  for (const test of Object.values(tested)) expect(existsSync(test)).toBe(true);
});

it('the hub’s table is read from the outputs of a deploy', () => {
  const command = commands.find((c) => c.command.startsWith('export TABLE_NAME=$(node'))?.command;
  const folder = mkdtempSync(join(tmpdir(), 'page-commands-'));
  mkdirSync(join(folder, 'cdk.out'));
  writeFileSync(join(folder, 'cdk.out/outputs.json'), JSON.stringify({ 'FleetEndpoints-hub': { TableName: 'the-table' } }));
  const { stdout } = spawnSync('bash', ['-c', `${command}; echo $TABLE_NAME`], { cwd: folder, encoding: 'utf8' });
  rmSync(folder, { recursive: true });
  expect(stdout.trim()).toBe('the-table');
});

describe('a shell', () => {
  it.each(commands)('a shell parses $command', ({ command }) => {
    const { status, stderr } = spawnSync('bash', ['-n', '-c', command], { encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });
});

/** The package's commands in code blocks and in the text, without a redirection or a pipe. */
const ownCommands = [
  ...new Set([
    ...commands.flatMap(({ command }) => own.exec(command)?.[1]?.trim() ?? []),
    ...pages.flatMap((page) => {
      const spans = [
        ...readFileSync(page, 'utf8')
          .replace(/\n\s*/g, ' ')
          .matchAll(/`(npx fleet-endpoints [^`]*)`/g),
      ];
      return spans.flatMap(([, span = '']) => own.exec(span)?.[1]?.trim() ?? []);
    }),
  ]),
];

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
