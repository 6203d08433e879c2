import { type Argument, type Command, Help, type Option } from 'commander';
import { exitCodes, program } from '#infra/cli/command/program.ts';
import { code, type Part, page, table } from './markdown.ts';

/** The commands with an action, in the order of the help. */
const leavesOf = (command: Command): readonly Command[] => {
  const below = new Help().visibleCommands(command).filter((each) => each.name() !== 'help');
  return below.length === 0 ? [command] : below.flatMap(leavesOf);
};

const pathOf = (command: Command): string =>
  command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();

const argumentText = (argument: Argument): string =>
  argument.required ? `<${argument.name()}>` : `[${argument.name()}]`;

const detailsOf = ({ description, argChoices, defaultValue, envVar }: Option): string =>
  [
    description,
    argChoices && `one of ${argChoices.map(code).join(', ')}`,
    defaultValue !== undefined && `default ${code(String(defaultValue))}`,
    envVar && `or the environment variable ${code(envVar)}`,
  ]
    .filter(Boolean)
    .join('; ');

/** Hidden options are those of every command that answers, and are listed too. */
function optionRows(command: Command): readonly (readonly string[])[] {
  return [
    ...command.registeredArguments.map((argument) => [
      code(argumentText(argument)),
      [
        argument.description,
        argument.argChoices && `one of ${argument.argChoices.map(code).join(', ')}`,
        argument.defaultValue !== undefined && `default ${code(String(argument.defaultValue))}`,
      ]
        .filter(Boolean)
        .join('; '),
    ]),
    ...command.options.map((option) => [code(option.flags), detailsOf(option)]),
  ];
}

function partsOf(command: Command): readonly Part[] {
  const rows = optionRows(command);
  return [
    `## ${pathOf(command)}`,
    command.description(),
    ...(rows.length > 0 ? [table(['argument or option', 'meaning'], rows)] : []),
  ];
}

export const commandsPage = (): string =>
  page('Commands', 'infra/cli/command', [
    'How to use them is in [commands](../use/commands.md). `fleet-endpoints COMMAND --help` prints the same, with examples.',
    '## Exit codes',
    table(
      ['exit code', 'meaning'],
      Object.values(exitCodes).map(({ code: number, meaning }) => [String(number), meaning]),
    ),
    ...leavesOf(program()).flatMap(partsOf),
  ]);
