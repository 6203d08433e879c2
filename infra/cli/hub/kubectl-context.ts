/** The cluster of the hub that kubectl's current context names. */
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { parse } from 'yaml';
import { UsageError } from '#infra/cli/terminal/usage-error.ts';

interface Kubeconfig {
  readonly 'current-context'?: string;
  readonly contexts?: readonly { readonly name?: string; readonly context?: { readonly cluster?: string } }[];
}

/**
 * Returns the only cluster of the hub, or the one that the current context names. Names are those of the
 * context and of its cluster, and the last part of either, as EKS (`arn:aws:eks:…:cluster/NAME`) and GKE
 * (`gke_PROJECT_ZONE_NAME`) write it. Throws a UsageError with the clusters of the hub otherwise.
 */
export function clusterOfContext(
  clusters: readonly string[],
  texts: readonly string[] = kubeconfigTexts(),
): string {
  const [only] = clusters;
  if (clusters.length === 1 && only !== undefined) return only;
  const { current, names } = currentNames(texts);
  const found = clusters.filter((id) => names.includes(id));
  if (found.length === 1) return found[0] as string;
  const what =
    current === undefined
      ? 'kubectl has no current context'
      : `kubectl's context ${current} names ${found.length || 'none'} of them`;
  throw new UsageError(`which cluster? There are ${clusters.join(', ') || 'none'}; ${what}`);
}

const listedFiles = (): readonly string[] | undefined =>
  process.env['KUBECONFIG']?.split(delimiter).filter(Boolean);
const ownFile = (): string => join(homedir(), '.kube', 'config');

/** The kubeconfig files of a command without --kubeconfig. */
export function defaultKubeconfig(): readonly string[] {
  const listed = listedFiles() ?? [];
  return listed.length > 0 ? listed : [ownFile()];
}

function kubeconfigTexts(): readonly string[] {
  return (listedFiles() ?? [ownFile()]).flatMap((file) => {
    try {
      return [readFileSync(file, 'utf8')];
    } catch {
      return [];
    }
  });
}

/** As kubectl merges files: the first one with a current context, or with a context of that name, counts. */
function currentNames(texts: readonly string[]): {
  readonly current: string | undefined;
  readonly names: readonly string[];
} {
  const configs = texts.map((text) => parse(text) as Kubeconfig | null);
  const current = configs.find((config) => config?.['current-context'])?.['current-context'];
  if (current === undefined) return { current, names: [] };
  const context = configs
    .flatMap((config) => config?.contexts ?? [])
    .find(({ name }) => name === current)?.context;
  const names = [current, context?.cluster ?? ''].filter(Boolean);
  return {
    current,
    names: [
      ...names,
      ...names.flatMap((name) => [name.replace(/^.*\//, ''), name.replace(/^gke_[^_]+_[^_]+_/, '')]),
    ],
  };
}
