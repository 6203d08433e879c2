/**
 * The command-line program, from its arguments to the exit code. A command's code is loaded when the command
 * runs, so help and mistakes are answered at once. commander 14 is the newest that runs on Node 20.
 */
import tab from '@bomb.sh/tab/commander';
import { Command, CommanderError, Help } from 'commander';
import { wrapped } from '#infra/cli/terminal/line-wrap.ts';
import { printable } from '#infra/cli/terminal/printable.ts';
import { UsageError } from '#infra/cli/terminal/usage-error.ts';
import { installation, packageName } from '#infra/installation.ts';
import { clusterCommand } from './cluster-command.ts';
import { configCommand } from './config-command.ts';
import { consoleCommand } from './console-command.ts';
import { doctorCommand } from './doctor-command.ts';
import { explainCommand } from './explain-command.ts';
import { handBackCommand } from './hand-back-command.ts';
import { historyCommand } from './history-command.ts';
import { mcpCommand } from './mcp-command.ts';
import { optInCommand } from './opt-in-command.ts';
import { redriveCommand } from './redrive-command.ts';
import { relayCommand } from './relay-command.ts';
import { startCommand } from './start-command.ts';

/** docs/reference/commands.md has them. */
export const exitCodes = {
  done: { code: 0, meaning: 'done' },
  failed: {
    code: 1,
    meaning:
      'failed: AWS, a cluster or a file refused, and the last line on standard error has the reason; or an answer of `config check --account`, `doctor` or `opt-in check` is wrong',
  },
  wrongUse: { code: 2, meaning: 'wrong use, or a refused switch; the command changed nothing' },
} as const;

export const program = (): Command => programs(false).all;

function programs(isPlugin: boolean) {
  const all = new Command(packageName)
    .description('The Kubernetes Endpoints and EndpointSlice controllers for a fleet of clusters.')
    .version(installation.version)
    .addHelpText(
      'after',
      `
Example: $ fleet-endpoints explain demo-1 shop/web   # why a pod is an address
Exit codes: 0 done, 1 failed, 2 wrong use or refused. Times: UTC, or --local.`,
    );
  for (const command of [
    startCommand(),
    consoleCommand(),
    explainCommand(isPlugin),
    historyCommand(),
    clusterCommand(),
    optInCommand(),
    redriveCommand(),
    doctorCommand(),
    mcpCommand(),
    relayCommand(),
    configCommand(),
  ])
    all.addCommand(command);
  // `kubectl endpoints hand-back`, which people look for when the hub is away.
  all.addCommand(handBackCommand(), { hidden: true });
  // Adds the commands `completion` and, hidden, `complete`, which the shells call.
  const completed = tab(all, { completionCommandName: 'completion' });
  all.commands
    .find((command) => command.name() === 'completion')
    ?.summary("prints a shell's completion script")
    .description("Prints a shell's completion script, with the names of clusters, namespaces and services.")
    .addHelpText('after', '\nExample: $ source <(fleet-endpoints completion bash)')
    .action((shell: string) => printScript(completed, shell));
  return { all: answering(all), completed };
}

/**
 * The library's constants are `readonly`, so a shell that reads the script twice, or another tool's, would
 * print errors.
 */
function printScript(completed: ReturnType<typeof tab>, shell: string): void {
  const { log } = console;
  console.log = (text: string) => log(text.replace(/^readonly /gm, ''));
  try {
    completed.setup(packageName, packageName, shell);
  } finally {
    console.log = log;
  }
}

/**
 * Makes the command and its subcommands throw on a mistake instead of ending the process, and print a hint to
 * their help. Their help is brief.
 */
function answering(command: Command): Command {
  command.exitOverride().showHelpAfterError(`(${pathOf(command)} --help lists the options)`);
  command.configureHelp({
    // Descriptions wrap beside the options also at 60 columns.
    minWidthToWrap: 20,
    // The arguments of each command are in its own help: with them little room is left for descriptions.
    subcommandTerm: (below) => below.name(),
    // The option --help is listed already.
    visibleCommands: (command) =>
      new Help().visibleCommands(command).filter((below) => below.name() !== 'help'),
  });
  command.configureOutput({ outputError: (text, write) => write(withoutFarGuess(text)) });
  for (const below of command.commands) answering(below);
  return command;
}

/** Removes a guess with another first letter: the library suggests --reason for --json. */
const withoutFarGuess = (text: string): string =>
  text.replace(/('--(.)[^\n]*)\n\(Did you mean (?!one of)--(?!\2)[^\n]*/, '$1');

const pathOf = (command: Command): string =>
  command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();

/** `isPlugin`: kubectl calls the program, as `kubectl endpoints`. */
export async function main(args: readonly string[], isPlugin = false): Promise<void> {
  // Another program may stop reading early, as head does.
  process.stdout.on('error', (e: NodeJS.ErrnoException) => {
    if (e.code !== 'EPIPE') throw e;
    process.exit();
  });
  // The package contains the SDK, so a user cannot get the later versions of which the SDK warns before each
  // answer.
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true';
  try {
    const { all, completed } = programs(isPlugin);
    if (args[0] === 'complete') {
      const { completeNames } = await import('./arguments/complete-names.ts');
      await completeNames(completed, args.slice(args.indexOf('--') + 1));
    }
    await all.parseAsync([...args], { from: 'user' });
    // A question to the hub that came too late may still be open.
    if (args[0] === 'complete') process.exit();
  } catch (error) {
    process.exitCode = exitCodeOf(error);
    // The library has already printed a mistake on the command line.
    if (!(error instanceof CommanderError))
      console.error(errorText(error, process.stderr.isTTY ? process.stderr.columns : undefined));
  }
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError)
    return error.exitCode === 0 ? exitCodes.done.code : exitCodes.wrongUse.code;
  return error instanceof UsageError ? exitCodes.wrongUse.code : exitCodes.failed.code;
}

/** The mistakes of a clusters file are lines of their own, each with its place. A width wraps the lines. */
export function errorText(error: unknown, width?: number): string {
  const { name, message } = error instanceof Error ? error : { name: '', message: String(error) };
  const lines = (name === 'YamlProblems' ? message : `error: ${message}`).split('\n').map(printable);
  return (width === undefined ? lines : lines.flatMap((line) => wrapped(line, width))).join('\n');
}
