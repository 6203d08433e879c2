/**
 * Names of the hub for the shells' completion: clusters, namespaces and services. The shells get none if no
 * hub answers within two seconds.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Argument, Complete, Option, RootCommand } from '@bomb.sh/tab';
import type { Table } from '#shared/store/table.ts';
import { connectedHub } from './hub-option.ts';

const maxMs = 2_000;

/** `words` are those of the command line, the one under the cursor last. Call before `root` parses them. */
export async function completeNames(root: RootCommand, words: readonly string[]): Promise<void> {
  const table = optionIn(words, '--table');
  const hub = optionIn(words, '--hub');
  const names = connectedHub({ ...(table && { table }), ...(hub && { hub }) }).then((found) =>
    namesFor(found.table, words),
  );
  const { clusters, services, namespaces } = await Promise.race([names, wait(maxMs, none)]).catch(() => none);
  for (const command of root.commands.values()) {
    offer(command.arguments.get('cluster'), clusters);
    offer(command.arguments.get('service'), services);
    offer(command.arguments.get('namespaces'), ['all', 'none', ...namespaces]);
    offer(command.options.get('namespace'), namespaces);
  }
}

interface Names {
  readonly clusters: readonly string[];
  /** As NAMESPACE/SERVICE, or after `-n` as SERVICE. */
  readonly services: readonly string[];
  readonly namespaces: readonly string[];
}

const none: Names = { clusters: [], services: [], namespaces: [] };

/**
 * Reads the services of one namespace alone, because a cluster may have thousands. The namespaces are offered
 * while several are possible.
 */
async function namesFor(table: Table, words: readonly string[]): Promise<Names> {
  const [{ listClusters }, { namespacesInRange }, { readObjects, isAlive }] = await Promise.all([
    import('#shared/clusters/record.ts'),
    import('#shared/store/inputs/namespaces.ts'),
    import('#shared/store/inputs/objects.ts'),
  ]);
  const clusters = await listClusters(table);
  const before = words.slice(0, -1);
  const cluster = before.find((word) => clusters.includes(word));
  if (cluster === undefined) return { ...none, clusters };
  const namespaces = (await namespacesInRange({ table, cluster }, 'Service')).map(({ name }) => name);
  const chosen = optionIn(before, '-n') ?? optionIn(before, '--namespace');
  const begun = words.at(-1) ?? '';
  const possible = namespaces.filter((name) =>
    chosen === undefined ? `${name}/`.startsWith(begun) || begun.startsWith(`${name}/`) : name === chosen,
  );
  const [namespace, ...others] = possible;
  if (namespace === undefined || others.length > 0)
    return { clusters, namespaces, services: possible.map((name) => `${name}/`) };
  const records = (await readObjects({ table, cluster }, 'Service', namespace)).filter(isAlive);
  return {
    clusters,
    namespaces,
    services: records.map(({ name }) => (chosen ? name : `${namespace}/${name}`)),
  };
}

function optionIn(words: readonly string[], name: string): string | undefined {
  const at = words.indexOf(name);
  return at < 0 ? undefined : words[at + 1];
}

function offer(completed: Argument | Option | undefined, values: readonly string[]): void {
  if (!completed) return;
  completed.handler = (complete: Complete) => {
    for (const value of values) complete(value, '');
  };
}
