/** AWS's own command line: it has the user's profiles and sessions, and the documents use it throughout. */
import { execFile } from 'node:child_process';
import { UsageError } from '#infra/cli/terminal/usage-error.ts';

/** Resolves to the answer's JSON. Rejects with a UsageError that has AWS's own reason. */
export type Aws = (...args: readonly string[]) => Promise<unknown>;

/** The option --region, left out without a region: the user's settings choose it then. */
export const inRegion = (region: string | undefined): readonly string[] =>
  region ? ['--region', region] : [];

export const awsCli: Aws = (...args) =>
  new Promise((resolve, reject) => {
    execFile('aws', [...args, '--output', 'json'], { maxBuffer: 16 * 1024 * 1024 }, (error, out, err) => {
      if (!error) resolve(out.trim() === '' ? {} : JSON.parse(out));
      else if (error.code === 'ENOENT')
        reject(new UsageError("there is no program aws: install AWS's command line, version 2"));
      else reject(new UsageError(`aws ${args.slice(0, 2).join(' ')}: ${err.trim() || error.message}`));
    });
  });
