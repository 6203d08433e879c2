/**
 * `node test/worlds/upgrade/record.main.ts VERSION [FILE]` records the state that this checkout, as that
 * version, leaves to the next one. `npm run release` writes it beside the package.
 * describes the test of the next version with it.
 */
import { writeFileSync } from 'node:fs';
import { activeCluster, optInCluster } from './scenario.ts';

const [version, file = `test/worlds/upgrade/released/${version}.json`] = process.argv.slice(2);
if (!version || !/^\d+\.\d+\.\d+$/.test(version)) {
  console.error(`which version? one such as 0.1.0 is needed, ${JSON.stringify(version ?? '')} was given`);
  process.exit(2);
}
writeFileSync(
  file,
  `${JSON.stringify({ version, active: await activeCluster(), optIn: await optInCluster() }, null, 1)}\n`,
);
console.error(`wrote ${file}`);
