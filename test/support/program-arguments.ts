/** The arguments of a developer's program. `--help` and unknown options print the allowed ones. */
import { type ParseArgsConfig, parseArgs } from 'node:util';

/** As parseArgs. Ends the process after `--help`, and after a wrong argument with exit code 2. */
export function programArguments<T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  const options = Object.entries(config.options ?? {}).map(
    ([name, { type, default: value }]) =>
      `  --${name}${type === 'string' ? ' VALUE' : ''}${value === undefined || value === false ? '' : ` (${value})`}`,
  );
  const allowed = ['options:', ...options, '  --help'].join('\n');
  const help = process.argv.slice(2).includes('--help');
  if (help) {
    console.log(allowed);
    process.exit(0);
  }
  try {
    return parseArgs(config);
  } catch (error) {
    console.error(`error: ${(error as Error).message}\n${allowed}`);
    process.exit(2);
  }
}
