import { homedir } from 'node:os';
import { join } from 'node:path';
import { installation, isCheckout } from '#infra/installation.ts';

/** Where Node keeps what it has compiled: eight processes with the AWS SDK start in a third of the time. An installed package may be read-only. */
export const compileCache = isCheckout
  ? join(installation.root, 'node_modules/.cache/compile')
  : join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'fleet-endpoints', `compile-${installation.version}`);
