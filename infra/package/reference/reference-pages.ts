/**
 * The files of docs/reference: each is written from the code that it describes (`npm run docs`), so a table is
 * never typed a second time.
 */
import { answerSchemas } from '../answer-schemas.ts';
import { alarmsPage } from './alarms-page.ts';
import { clustersYamlPage } from './clusters-yaml-page.ts';
import { codesPage } from './codes-page.ts';
import { commandsPage } from './commands-page.ts';
import { limitsPage } from './limits-page.ts';
import { metricsPage } from './metrics-page.ts';
import { parityPage } from './parity-page.ts';

export const referenceFolder = 'docs/reference';

/** Returns the texts by path in the folder. */
export const referenceFiles = (): ReadonlyMap<string, string> =>
  new Map([
    ['alarms.md', alarmsPage()],
    ['clusters-yaml.md', clustersYamlPage()],
    ['codes.md', codesPage()],
    ['commands.md', commandsPage()],
    ['limits.md', limitsPage()],
    ['metrics.md', metricsPage()],
    ['parity.md', parityPage()],
    ...[...answerSchemas()].map(([name, text]) => [`schemas/${name}`, text] as const),
  ]);
