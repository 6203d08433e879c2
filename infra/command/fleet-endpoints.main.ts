#!/usr/bin/env node
/** The program `fleet-endpoints`. */
import * as module from 'node:module';
import { compileCache } from '#infra/local/compile-cache.ts';

// Before anything large is loaded; Node 20 has none.
module.enableCompileCache?.(compileCache);
const { main } = await import('./program.ts');
await main(process.argv.slice(2));
