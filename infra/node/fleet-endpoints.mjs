#!/usr/bin/env node
// `npx fleet-endpoints` in a checkout: the sources as they are. The package has the same command as JavaScript.
import '../local/node-version.mjs';

await import('../cli/command/fleet-endpoints.main.ts');
