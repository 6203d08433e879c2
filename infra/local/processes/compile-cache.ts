import { homedir } from 'node:os';
import { join } from 'node:path';
import { installation, isCheckout } from '#infra/installation.ts';

/**
 * The folder of Node's compile cache, with which eight processes start in a third of the time. An installed
 * package may be read-only, so it is elsewhere.
 */
export const compileCache = isCheckout
  ? join(installation.root, 'node_modules/.cache/compile')
  : join(
      process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'),
      'fleet-endpoints',
      `compile-${installation.version}`,
    );
