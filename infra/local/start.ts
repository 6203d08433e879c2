import { printable } from '#infra/cli/terminal/printable.ts';
import { UsageError } from '#infra/cli/terminal/usage-error.ts';
import { run } from './local-run.ts';
import type { Options } from './options.ts';
import { terminal } from './processes/terminal.ts';

/** Runs with these options and exits the process with the code. */
export async function start(options: Options): Promise<never> {
  const stopping = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => stopping.abort());
  try {
    await run(options, {
      terminal: terminal(process.stdout),
      verbose: process.env['LOG'] === 'info',
      signal: stopping.signal,
    });
  } catch (e) {
    if (!stopping.signal.aborted) {
      // The text is escaped because many messages contain a server's answer.
      const lines =
        e instanceof UsageError
          ? [`error: ${e.message}`]
          : String(e instanceof Error ? (e.stack ?? e) : e).split('\n');
      for (const line of lines) console.error(printable(line));
      process.exit(1);
    }
  }
  // An open socket or timer must not keep the process alive.
  process.exit(0);
}
