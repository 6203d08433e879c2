import { App, Aspects } from 'aws-cdk-lib';
import { type Config, loadConfig } from './config.ts';
import { fitToEmulator } from './emulator.ts';
import { addFleet } from './fleet.ts';

/** The CDK app, and the only place that reads context: `clusters` (a file) and `emulator`. */
const app = new App();
addFleet(app, configOrExit(app.node.tryGetContext('clusters') ?? 'clusters.yaml'));
if (app.node.tryGetContext('emulator')) Aspects.of(app).add(fitToEmulator());

/** What is wrong with the file is for the person who wrote it: without a stack trace. */
function configOrExit(file: string): Config {
  try {
    return loadConfig(file);
  } catch (e) {
    console.error(e instanceof Error ? e.message : e);
    process.exit(1);
  }
}
