/**
 * Arguments of the command: they are parsed, or refused with a sentence and the exit code of wrong use. No
 * action runs.
 */
import { type Command, CommanderError } from 'commander';
import fc, { type Arbitrary } from 'fast-check';
import { serviceOf } from '#infra/cli/command/arguments/service-argument.ts';
import { hubNameOf } from '#infra/cli/command/console-command.ts';
import { program } from '#infra/cli/command/program.ts';
import { printable } from '#infra/cli/terminal/printable.ts';
import { UsageError } from '#infra/cli/terminal/usage-error.ts';
import { spanMs, timeMs } from '#infra/cli/terminal/when.ts';
import { checkedOptions, type TypedOptions } from '#infra/local/options.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';
import { type Door, ensure } from '../door.ts';
import { hostileText } from '../hostile.ts';

const now = Date.parse('2026-03-01T10:00:00Z');

const words = (command: Command): readonly string[] => [
  command.name(),
  ...command.options.flatMap(({ long, short }) => [long, short].filter((o): o is string => o !== undefined)),
  ...command.commands.flatMap(words),
];
const known = [...new Set(words(program()))];
const times = [
  '20m',
  '2h',
  '999999d',
  '9999999s',
  '14:03',
  '25:99',
  '2026-03-01T14:03:00Z',
  '2026-02-31T00:00Z',
  '9999-12-31T23:59:59+14:00',
  '-1s',
];
const values = [
  'demo-1',
  'shop/web',
  'a/b/c',
  '/',
  '0',
  '1',
  '50',
  '65536',
  '-1',
  '1e3',
  '٣',
  'active',
  'shadow',
  'off',
  'all',
  'none',
  'shop,b',
  ',',
  'default',
  'both',
  '--',
  '-',
  '--=',
  '--port=',
];
const word = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...known) },
  { weight: 4, arbitrary: fc.constantFrom(...values, ...times) },
  { weight: 2, arbitrary: hostileText },
);
const args: Arbitrary<readonly string[]> = fc.oneof(
  fc.array(word, { maxLength: 7 }),
  fc.tuple(fc.constant('start'), fc.array(word, { maxLength: 7 })).map(([first, rest]) => [first, ...rest]),
);

/** Instead of its action each command checks its values as its action begins with it. */
function withoutActions(command: Command, said: string[]): void {
  command.configureOutput({
    writeOut: (text) => void said.push(text),
    writeErr: (text) => void said.push(text),
  });
  if (command.commands.length === 0) command.action(() => checkValues(command));
  for (const below of command.commands) withoutActions(below, said);
}

async function checkValues(command: Command): Promise<void> {
  const options: { readonly [name: string]: unknown } = command.opts();
  if (command.name() === 'start') JSON.stringify(checkedOptions(options as TypedOptions));
  const { at, since, table } = options;
  if (typeof at === 'string') ensure(Number.isFinite(timeMs('--at', at, now)), `--at ${at} is no time`);
  if (typeof since === 'string') ensure(spanMs('--since', since) >= 0, `--since ${since} is below 0`);
  if (typeof table === 'string') hubNameOf(table);
  const [chosen, service] = command.args;
  if (command.name() === 'explain' || command.name() === 'history')
    await serviceOf(memoryTable(), chosen, service);
}

const maxLength = 250_000;

export const commandLine: Door<readonly string[]> = {
  name: 'command-line',
  cases: 60,
  values: args,
  async check(typed) {
    const said: string[] = [];
    const command = program();
    withoutActions(command, said);
    try {
      await command.parseAsync([...typed], { from: 'user' });
    } catch (error) {
      ensure(
        error instanceof CommanderError || error instanceof UsageError,
        `${String(error)}\n${(error as Error).stack}`,
      );
      ensure(/\w/.test(error.message), `a mistake is told as ${JSON.stringify(error.message)}`);
      ensure(!/\p{Cc}/u.test(printable(error.message)), 'a message has control characters');
    }
    ensure(said.join('').length < maxLength, 'the answer is too long');
  },
};
