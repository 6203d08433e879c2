/**
 * The bound of each read of a whole partition: a read without one is a read that a tenant or a relay makes as
 * large as it likes.
 */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

/**
 * - `paged`: a page of it is in memory at a time.
 * - `bounded`: the clusters of the fleet, or the records of one service or name.
 * - `keys`: keys alone.
 * - `command`: explain, history, console and the other commands, on the machine of the operator who asks.
 * - `bytes`: it rejects above a number of bytes (both controllers read the Pods of one namespace whole).
 * - `caller`: the callers are listed here themselves.
 */
type Bound = 'paged' | 'bounded' | 'keys' | 'command' | 'bytes' | 'caller';

const queries: Record<string, Bound> = {
  'functions/clusterset/ingest/clusterset-wakes.ts exportsOnNodes': 'paged',
  'functions/clusterset/ingest/zone-wakes.ts hasNewZone': 'paged',
  'functions/ingest/inputs/input-list-page.ts rangeReader': 'bytes',
  'functions/ingest/wake-ups/concerned-services.ts nodesOf': 'paged',
  'functions/ingest/wake-ups/selectors.ts selectorsOf': 'paged',
  'functions/sweep/read-zonal-shifts.ts zoneNames': 'paged',
  'functions/sync/state/kept-nodes.ts readNodes': 'paged',
  'infra/cli/ask/explain-input.ts readNodes': 'command',
  'infra/cli/ask/explain-input.ts readPods': 'command',
  'infra/clusterset/ask/imports-of-other-sets.ts otherSetsLines': 'command',
  'infra/clusterset/act/imports-withdraw.ts importedNames': 'command',
  'infra/cli/ask/lists/list-services.ts readServices': 'command',
  'infra/clusterset/ask/read-set.ts readSource': 'command',
  'infra/clusterset/ask/read-set.ts readZones': 'command',
  'infra/cli/ask/lists/service-rows.ts serviceRows': 'command',
  'infra/cli/ask/zones/cluster-zones.ts readZones': 'command',
  'infra/console/name-search.ts podsOf': 'command',
  'infra/cli/command/arguments/complete-names.ts namesFor': 'command',
  'infra/clusterset/console/clusterset-answer.ts readMember': 'command',
  'shared/clusters/audit.ts listAudit': 'command',
  'shared/clusterset/membership/clusterset-membership.ts listImporters': 'bounded',
  'shared/clusters/record.ts listClusters': 'bounded',
  'shared/store/inputs/namespace-pods.ts readPods': 'bytes',
  'shared/clusterset/store/clusterset-index.ts namesInSet': 'keys',
  'shared/clusterset/store/clusterset-index.ts readSetEntries': 'bounded',
  'shared/clusterset/store/clusterset-index.ts readSetNamespace': 'paged',
  'shared/clusterset/store/exports-of-cluster.ts exportsOfCluster': 'keys',
  'shared/store/outputs/observed-records.ts readObservedTexts': 'bounded',
  'shared/store/outputs/history-records.ts recordsSince': 'command',
  'shared/clusterset/store/import-report.ts listImportReports': 'command',
  'shared/clusterset/store/imports-of-set.ts forgetImportStates': 'keys',
  'shared/clusterset/store/imports-of-set.ts readImportStates': 'bounded',
  'shared/store/inputs/namespaces.ts namespacesInRange': 'paged',
  'shared/store/inputs/namespaces.ts nextNamespaces': 'paged',
  'shared/store/inputs/object-keys.ts firstNamesOf': 'keys',
  'shared/store/inputs/object-keys.ts objectNamesIn': 'keys',
  'shared/store/inputs/objects.ts objectHeads': 'paged',
  'shared/store/inputs/objects.ts objectPages': 'paged',
  'shared/store/inputs/objects.ts objectsIn': 'caller',
  'shared/store/inputs/objects.ts readObjects': 'caller',
  'shared/store/inputs/objects.ts readServiceNames': 'paged',
  'shared/store/outputs/outputs.ts forgetOutputs': 'bounded',
  'shared/store/outputs/outputs.ts readOddServices': 'keys',
  'shared/store/outputs/outputs.ts readOutputHeads': 'bounded',
  'shared/store/outputs/outputs.ts readBodies': 'bounded',
  'shared/store/outputs/service-counts.ts listHints': 'paged',
  'shared/store/outputs/service-counts.ts totalGauges': 'paged',
  'shared/store/outputs/shadow-record.ts listDifferences': 'paged',
  'shared/store/triggers.ts readTriggers': 'bounded',
};

interface Query {
  /** The file and the function. */
  readonly place: string;
  readonly line: string;
}

const verbs = /\.query\(|\b(?:inPages|pagesOf|keysIn|readObjects|objectsIn|objectPages)\(/;
const declaration =
  /^(?:export )?(?:async )?function\*? (\w+)|^(?:export )?const (\w+) = |^ {2}(?:async )?\*?(#?\w+)\(.*\{$/;

function queriesOf(file: string, source: string): readonly Query[] {
  let name = '';
  const lines = source.split('\n');
  return lines.flatMap((line, i) => {
    const found = declaration.exec(line);
    if (found) name = found[1] ?? found[2] ?? found[3] ?? '';
    const isDeclaration = /function\*? (?:inPages|pagesOf|keysIn|readObjects|objectsIn|objectPages)\b/.test(
      line,
    );
    return verbs.test(line) && !isDeclaration && !/^\s*(?:\*|\/\/|\/\*)/.test(line)
      ? [{ place: `${file} ${name}`, line: statementAt(lines, i) }]
      : [];
  });
}

/** The lines from this one to the end of its statement, as one. */
function statementAt(lines: readonly string[], from: number): string {
  const length = lines.slice(from).findIndex((line) => line.endsWith(';')) + 1;
  return lines
    .slice(from, from + length)
    .map((line) => line.trim())
    .join(' ');
}

const files = globSync('{shared,functions,infra}/**/*.ts')
  // Drivers, the relay's pages of a list, and sweep's of one in memory.
  .filter(
    (file) =>
      !/^(functions\/relay\/|shared\/store\/dynamodb\/|infra\/local\/|functions\/sweep\/own-list\.ts|shared\/store\/pages\.ts)/.test(
        file,
      ),
  );

it('each read of a partition is listed here with its bound, and each that is listed is there', () => {
  const found = files.flatMap((file) => queriesOf(file, readFileSync(file, 'utf8')));
  expect(found.length).toBeGreaterThan(25);
  // The wing may be left out.
  const listed = Object.keys(queries).filter(
    (place) => !place.includes('/clusterset/') || existsSync('shared/clusterset'),
  );
  expect([...new Set(found.map(({ place }) => place))].toSorted()).toEqual(listed.toSorted());
});

it('a read of keys asks for keys, a read in pages for pages, and a read of bytes for at most so many', () => {
  const found = files.flatMap((file) => queriesOf(file, readFileSync(file, 'utf8')));
  const asks = {
    keys: /keysIn\(|only: \[\]/,
    paged: /inPages\(|pagesOf\(|objectPages\(|atMost/,
    bytes: /maxBytes/,
  };
  const wrong = found.filter(({ place, line }) => {
    const bound = queries[place];
    return (bound === 'keys' || bound === 'paged' || bound === 'bytes') && !asks[bound].test(line);
  });
  expect(wrong).toEqual([]);
});

it('a planted query is found', () => {
  expect(
    queriesOf(
      'shared/store/planted.ts',
      'export async function planted(table) {\n  return table.query(pk);\n}',
    ),
  ).toEqual([{ place: 'shared/store/planted.ts planted', line: 'return table.query(pk);' }]);
});
