/** The package's own commands of the operators' pages, as they run on a local run of two clusters. */
import { commandsOf, operatorsPages } from '#test/support/page-commands.ts';

export interface PlannedCommand {
  /** As it is in a page, without `fleet-endpoints`. */
  readonly text: string;
  /** A part of what it prints. */
  readonly prints: RegExp;
  /** 0 if left out. 1: it has findings. 2: it refuses, with the reason. */
  readonly code?: number;
}

/** Words that stand for the reader's own. */
export const values: { readonly [word: string]: string } = {
  CLUSTER: 'demo-1',
  'shop-dev': 'demo-1',
  ZONE: 'zone-a',
  IMPORTER: 'demo-2',
  ID: 'demo-1',
  'shop-a': 'demo-1',
  'shop-b': 'demo-2',
  'NAMESPACE/SERVICE': 'shop/web',
  'NAMESPACE/web': 'shop/web',
  'web/cart': 'shop/catalog',
  'NAMESPACE/NAME': 'shop/catalog',
};

/** They change nothing, so they run beside each other. */
export const reads: readonly PlannedCommand[] = [
  { text: 'cluster list', prints: /^demo-1 .* applied +closed/m },
  // Three Services of the demonstration are broken on purpose.
  { text: 'doctor', prints: /WRONG +demo-2: services: 3 of \d+ Services cannot be reached/, code: 1 },
  { text: 'explain shop-dev NAMESPACE/SERVICE', prints: /^demo-1 shop\/web: / },
  { text: 'explain CLUSTER NAMESPACE/SERVICE', prints: /^demo-1 shop\/web: / },
  { text: 'explain demo-1 shop/checkout', prints: /^demo-1 shop\/checkout: Unreachable/ },
  { text: 'explain demo-1 -A', prints: /checkout .*Unreachable.* no container has a port named htpp/ },
  { text: 'explain CLUSTER NAMESPACE/web', prints: /^demo-1 shop\/web: / },
  { text: 'explain shop-a web/cart', prints: /^demo-1 shop\/catalog/ },
  { text: 'history demo-1 shop/web', prints: /added to Endpoints and IPv4 slices/ },
  { text: 'explain CLUSTER NAMESPACE/NAME', prints: /^demo-1 shop\/catalog/ },
  { text: 'explain IMPORTER NAMESPACE/NAME', prints: /^demo-2 shop\/catalog/ },
  { text: 'explain', prints: /which cluster\? There are demo-1, demo-2; /, code: 2 },
  { text: 'explain CLUSTER NAMESPACE/SERVICE --at 14:03', prints: /^demo-1 shop\/web at .*T14:03:00/ },
  { text: 'history CLUSTER NAMESPACE/SERVICE --since 2h', prints: /added to Endpoints and IPv4 slices/ },
  // The address is one of another cluster.
  {
    text: 'history CLUSTER NAMESPACE/SERVICE --address 10.1.0.7',
    prints: /no address 10\.1\.0\.7 .* there are 10\.244/,
    code: 2,
  },
  { text: 'redrive', prints: /no parked work, dead letters or quarantined messages/ },
  { text: 'redrive CLUSTER', prints: /no parked work, dead letters or quarantined messages/ },
  { text: 'redrive CLUSTER --run', prints: /no parked work, dead letters or quarantined messages/ },
  { text: 'cluster opt-in CLUSTER', prints: /shop\/cart +fleet-endpoints, opt-in/ },
  { text: 'cluster zone CLUSTER', prints: /zone-a +- +1 +\d+ +-/ },
  { text: 'cluster imports shop-a', prints: /imports active, exports shop/ },
  { text: 'opt-in check CLUSTER NAMESPACE/web', prints: /BLOCKS +Annotation +missing/, code: 1 },
];

/** In the order in which they run. */
export const switches: readonly PlannedCommand[] = [
  { text: 'cluster opt-in CLUSTER active', prints: /opt-in active → active/ },
  {
    text: 'cluster opt-in CLUSTER off --withdraw',
    prints: /2 services have no selector, and would be left without endpoints/,
    code: 2,
  },
  { text: 'cluster opt-in CLUSTER off --abandon', prints: /opt-in active → off/ },
  { text: 'cluster opt-in ID off --abandon', prints: /opt-in off → off/ },
  { text: 'cluster imports CLUSTER', prints: /imports active, exports shop/ },
  { text: 'cluster imports CLUSTER off --withdraw', prints: /imports active → off/ },
  { text: 'cluster imports CLUSTER active', prints: /imports off → active/ },
  { text: 'cluster imports shop-a active', prints: /imports active → active/ },
  { text: 'cluster imports shop-b active', prints: /imports active → active/ },
  { text: 'cluster imports ID off --withdraw', prints: /imports active → off/ },
  { text: 'cluster exports CLUSTER', prints: /exports shop/ },
  { text: 'cluster exports CLUSTER none', prints: /exports shop → none/ },
  { text: 'cluster zone CLUSTER ZONE away', prints: /zone-a/ },
  { text: 'cluster zone CLUSTER ZONE back', prints: /zone-a/ },
  { text: 'cluster pause CLUSTER', prints: /active → paused\n.* a worker may still write until / },
  { text: 'cluster shadow CLUSTER', prints: /paused → shadow/ },
  { text: 'cluster active CLUSTER', prints: /no difference for \d+ s, 600 s are required/, code: 2 },
  {
    text: 'cluster active CLUSTER --controllers-off',
    prints: /built-in controllers: off, as you confirmed/,
    code: 2,
  },
  { text: 'cluster active CLUSTER --override', prints: /shadow → active/ },
  { text: 'cluster active CLUSTER --controllers-off --quiet-for 60', prints: /active → active/ },
  { text: 'cluster active', prints: /which cluster\? demo-1, demo-2, or --all/, code: 2 },
  { text: 'cluster audit -o json', prints: /"apiVersion"|"records"|\[/ },
  { text: 'cluster audit', prints: /shadow → active \(active with --override\)/ },
  { text: 'cluster pause --all', prints: /^demo-2 +active → paused/m },
  { text: 'relay chart FOLDER', prints: /wrote the chart into FOLDER/ },
];

/** Beginnings of commands that do not run here, with the reason or the test that runs them. */
const elsewhere: readonly (readonly [beginning: string, reason: string])[] = [
  ['explain --context prod', 'it needs a real cluster: test/cluster/answers asks one'],
  ['start', 'package.test.ts starts the run with it'],
  ['config init shop-dev', 'constructs.test.ts runs it in its order among the five steps'],
  [
    'config check',
    'constructs.test.ts runs it; with --account, test/e2e/deploy/account.ts on the local cloud',
  ],
  ['mcp', 'package.test.ts asks it with the client of its SDK'],
  ['console', 'it runs until Ctrl-C: test/e2e/console opens it'],
  ['cluster opt-in CLUSTER off|shadow|active', 'three commands, of which two are above'],
  [
    'relay values',
    'it needs the outputs of a deploy: test/infra/relay/relay-manifest.test.ts renders the chart with its values',
  ],
  ['relay manifest', 'it needs the outputs of a deploy: constructs.test.ts and test/e2e/deploy run it'],
  ['cluster opt-in ID off --withdraw', 'the same for CLUSTER is above'],
  ['cluster pause --all --table NAME', 'package.test.ts runs it as the first line of the runbook'],
  ['cluster hand-back', 'it needs a real cluster: test/cluster/opt-in/hand-back.test.ts runs it'],
  ['cluster rebuild', 'it waits for two minutes: test/e2e/deploy/lost-table.ts runs it'],
  ['cluster register', 'it needs the outputs of a deploy: test/e2e/deploy/lost-table.ts runs it'],
];

const own = /^(npx )?fleet-endpoints /;

/**
 * Returns the commands of the pages that are missing from every list, and the listed commands that are
 * missing from the pages.
 */
export function unplanned(): readonly string[] {
  const found = new Set(
    operatorsPages
      .flatMap(commandsOf)
      .flatMap(({ command }) => (own.test(command) ? [command.replace(own, '')] : [])),
  );
  const planned = new Set([...reads, ...switches].map(({ text }) => text));
  const added = [...found].filter(
    (text) => !planned.has(text) && !elsewhere.some(([beginning]) => text.startsWith(beginning)),
  );
  return [...added, ...[...planned].filter((text) => !found.has(text))];
}

export const withValues = (text: string): readonly string[] =>
  text.split(' ').map((word) => values[word] ?? word);
