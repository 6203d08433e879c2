/** The options of commands that print an answer: its format, its colours and its times. */
import { type Command, Option } from 'commander';
import type { OutputFormat, Printing } from '#infra/cli/terminal/print-answer.ts';

export interface OutputChoice {
  readonly output?: OutputFormat;
  readonly json?: boolean;
  readonly color?: 'auto' | 'always' | 'never';
  readonly local?: boolean;
}

export const withOutput = (command: Command, formats: readonly OutputFormat[]): Command =>
  command
    .addOption(new Option('-o, --output <format>', 'form').choices(formats))
    .addOption(new Option('--json', 'the same as -o json').hideHelp())
    .addOption(
      new Option('--color <when>', 'colours; NO_COLOR turns them off')
        .choices(['auto', 'always', 'never'])
        .default('auto')
        .hideHelp(),
    )
    .addOption(new Option('--local', "times in this machine's zone instead of UTC").hideHelp());

/** For a command whose answer has no other form than text. `what`: what the JSON has. */
export const withJson = (command: Command, what: string): Command =>
  command
    .addOption(new Option('-o, --output <format>', what).choices(['json']))
    .addOption(new Option('--json', 'the same as -o json').hideHelp());

export const isJson = ({ output, json = false }: OutputChoice): boolean => json || output === 'json';

export const printingOf = ({
  output,
  json = false,
  color = 'auto',
  local = false,
}: OutputChoice): Printing => ({
  format: output ?? (json ? 'json' : undefined),
  color,
  isLocalTime: local,
});
