import { printable } from '#infra/cli/printable.ts';
import { UsageError } from '#infra/cli/usage-error.ts';
import { run } from './local-run.ts';
import type { Options } from './options.ts';
import { terminal } from './terminal.ts';

/** From the options to the exit code. */
export async function start(options: Options): Promise<never> {
  const stopping = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => stopping.abort());
  try {
    await run(options, { terminal: terminal(process.stdout), verbose: process.env['LOG'] === 'info', signal: stopping.signal });
  } catch (e) {
    if (!stopping.signal.aborted) {
      // Many messages contain a server's answer.
      const lines = e instanceof UsageError ? [`error: ${e.message}`] : String(e instanceof Error ? (e.stack ?? e) : e).split('\n');
      for (const line of lines) console.error(printable(line));
      process.exit(1);
    }
  }
  // A socket or timer that is left must not keep us here.
  process.exit(0);
}
