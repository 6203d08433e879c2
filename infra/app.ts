import { App, Aspects } from 'aws-cdk-lib';
import { fitToEmulator, forEmulator } from './aws/stacks/emulator.ts';
import { addFleet } from './aws/stacks/fleet-stacks.ts';
import type { Config } from './config/config.ts';
import { loadConfig } from './config/load-config.ts';

/** The CDK app, and the only place that reads context: `clusters` (a file) and `emulator`. */
// The CDK's own report is a resource that changes with each of its versions: a new one would then be an
// update of every cluster's stack.
const app = new App({ analyticsReporting: false });
const file: string = app.node.tryGetContext('clusters') ?? 'clusters.yaml';
const config = configOrExit(file);
console.error(`hub ${config.hub.name} of ${file}`);
const isEmulated = Boolean(app.node.tryGetContext('emulator'));
addFleet(app, isEmulated ? forEmulator(config) : config);
if (isEmulated) Aspects.of(app).add(fitToEmulator());

/** A mistake in the file is printed without a stack trace: its reader is the person who wrote the file. */
function configOrExit(name: string): Config {
  try {
    return loadConfig(name, 'cdk … -c clusters=FILE');
  } catch (e) {
    console.error(e instanceof Error ? e.message : e);
    process.exit(1);
  }
}
