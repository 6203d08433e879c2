#!/usr/bin/env node
/** The same program as the kubectl plugin `kubectl endpoints`. */
import * as module from 'node:module';
import { compileCache } from '#infra/local/processes/compile-cache.ts';

// The cache is enabled before a large module is loaded. Node 20 lacks the function.
module.enableCompileCache?.(compileCache);
const { main } = await import('./program.ts');
await main(process.argv.slice(2), true);
