/** The one command: its help, its answers to mistakes, and what the shells ask it. */
import { execFile } from 'node:child_process';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { errorText, program } from '#infra/cli/command/program.ts';

interface Answer {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

const run = (...args: readonly string[]): Promise<Answer> =>
  new Promise((resolve) => {
    const env = { ...process.env, HUB: '1', TABLE_NAME: '', NODE_NO_WARNINGS: '1', COLUMNS: '80' };
    execFile(
      process.execPath,
      ['infra/cli/command/fleet-endpoints.main.ts', ...args],
      { env },
      (error, out, err) => resolve({ code: typeof error?.code === 'number' ? error.code : 0, out, err }),
    );
  });

const visible = (command: Command): readonly Command[] =>
  command
    .createHelp()
    .visibleCommands(command)
    .filter((c) => c.name() !== 'help')
    .flatMap((c) => [c, ...visible(c)]);

/** Returns the output of `--help` on a terminal. */
function helpOf(command: Command, width = 80): string {
  let text = '';
  command.configureOutput({ writeOut: (more) => (text += more), getOutHelpWidth: () => width });
  command.outputHelp();
  return text;
}

it('an error wraps between words at the width of a terminal, and is one line in a pipe', () => {
  const error = new Error(
    'which service of demo-1? there are payments/fraud, payments/ledger, shop/ads, shop/cart',
  );
  expect(errorText(error)).toBe(`error: ${error.message}`);
  const lines = errorText(error, 60).split('\n');
  expect(lines.map((line) => line.length > 60)).toEqual([false, false]);
  expect(lines.map((line) => line.trim()).join(' ')).toBe(`error: ${error.message}`);
});

describe('help', () => {
  it('the command has every subcommand in the documents', () => {
    const names = program().commands.map((c) => c.name());
    expect(names).toEqual(
      expect.arrayContaining([
        'start',
        'console',
        'explain',
        'history',
        'cluster',
        'redrive',
        'doctor',
        'relay',
        'config',
        'completion',
      ]),
    );
  });

  it.each([program(), ...visible(program())].map((c) => [c.name(), c] as const))(
    'the help of %s fits a screen of 80 columns and 24 lines',
    (_, command) => {
      const lines = helpOf(command).trimEnd().split('\n');
      expect(lines.filter((line) => line.length > 80)).toEqual([]);
      expect(lines.length).toBeLessThanOrEqual(24);
    },
  );

  it.each([program(), ...visible(program())].map((c) => [c.name(), c] as const))(
    'the help of %s wraps at 60 columns, examples excepted',
    (_, command) => {
      const lines =
        helpOf(command, 60)
          .split(/\nExamples?:/)[0]
          ?.split('\n') ?? [];
      expect(lines.filter((line) => line.length > 60 && !line.startsWith('Usage: '))).toEqual([]);
    },
  );

  it.each(
    program()
      .commands.filter((c) => !['help', 'complete', 'completion'].includes(c.name()))
      .map((c) => [c.name(), c] as const),
  )('the help of %s has examples that the command takes', (name, command) => {
    const examples = [...helpOf(command).matchAll(/^ {2}\$ fleet-endpoints (.*?)(?: +#.*)?$/gm)].map(
      ([, line]) => line as string,
    );
    expect(examples.length).toBeGreaterThan(0);
    expect(examples.filter((line) => !line.startsWith(`${name}`))).toEqual([]);
  });
});

describe('mistakes', () => {
  it.concurrent.each([
    [['clutser', 'list'], /unknown command 'clutser'\n\(Did you mean cluster\?\)/],
    [['cluster', 'puase'], /unknown command 'puase'\n\(Did you mean pause\?\)/],
    [['start', '--kubconfig', 'f'], /unknown option '--kubconfig'\n\(Did you mean --kubeconfig\?\)/],
    [['cluster', 'pause', 'x', '--json'], /unknown option '--json'\n\(fleet-endpoints cluster pause --help/],
    [['start', '--clusters', '0'], /^error: --clusters 0: a whole number from 1 to 50\n$/],
    [['explain', 'demo-1', 'web'], /no hub: no local run has the folder or process id 1/],
    [
      ['history', 'demo-1', 'shop/web', '--since', '2w'],
      /--since 2w: a number with s, m, h or d is needed, as 30m or 2h/,
    ],
    [['cluster', 'active', '--quiet-for', 'x'], /a number of seconds is needed/],
    [['relay', 'manifest'], /missing required argument 'cluster'/],
    [[], /Usage: fleet-endpoints/],
  ])('%j is answered by the error, on standard error, with exit code 2', async (args, expected) => {
    const { code, out, err } = await run(...args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(expected);
    expect(err).not.toMatch(/^\s+at /m);
  });

  it('a clusters file that is not there is exit code 1, with the way to name another one', async () => {
    const { code, err } = await run('config', 'check', 'absent.yaml');
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(
        /^error: no clusters file at absent.yaml: .* or give another file: config check FILE/,
      ),
    ]);
  });

  it('a clusters file with mistakes is exit code 1, each mistake a line with its place', async () => {
    const { code, err } = await run('config', 'check', 'package.json');
    expect(code).toBe(1);
    expect(err.trimEnd().split('\n').length).toBeGreaterThan(1);
    for (const line of err.trimEnd().split('\n')) expect(line).toMatch(/^package\.json:\d+:\d+: /);
  });
});

it('a clusters file without mistakes is confirmed in a line, and printed as JSON with every default', async () => {
  expect(await run('config', 'check', 'clusters.example.yaml')).toEqual({
    code: 0,
    out: 'clusters.example.yaml: hub FleetEndpoints, 4 clusters, no mistakes\n',
    err: 'hub.pageTopicArn is missing: nobody hears of its alarms (docs/operate/monitoring.md)\nhub.ticketTopicArn is missing: nobody hears of its alarms (docs/operate/monitoring.md)\n',
  });
  expect(JSON.parse((await run('config', 'check', 'clusters.example.yaml', '--json')).out)).toMatchObject({
    clusters: [{ id: 'shop-dev', mode: 'shadow' }, {}, {}, {}],
  });
});

describe('completion', () => {
  it.concurrent.each(['bash', 'zsh', 'fish', 'powershell'])(
    '%s gets a script that asks this command',
    async (shell) => {
      const { code, out } = await run('completion', shell);
      expect(code).toBe(0);
      expect(/fleet-endpoints[^\n]* complete\b/.test(out)).toBe(true);
    },
  );

  it('bash may read the script twice without an error', async () => {
    const { out } = await run('completion', 'bash');
    const [failure, errors] = await new Promise<readonly [unknown, string]>((resolve) => {
      execFile('bash', ['-c', 'eval "$0" && eval "$0"', out], (error, _, stderr) => resolve([error, stderr]));
    });
    expect([failure, errors]).toEqual([null, '']);
  });

  it.concurrent.each([
    [['clu'], ['cluster']],
    [
      ['cluster', 'a'],
      ['audit', 'active'],
    ],
    [
      ['start', '--mode', ''],
      ['shadow', 'active'],
    ],
    [
      ['redrive', '--'],
      ['--run', '--output'],
    ],
  ])('after %j the shells are offered %j', async (words, offered) => {
    const { out } = await run('complete', '--', ...words);
    const found = out.split('\n').map((line) => line.split('\t')[0]);
    expect(found).toEqual(expect.arrayContaining(offered));
  });
});
