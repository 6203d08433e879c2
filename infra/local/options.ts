/** The options of a local run. */
import { UsageError } from '#infra/cli/terminal/usage-error.ts';
import type { ClusterSettings } from '#shared/contract/cluster-settings.ts';
import { maxDelaySeconds } from '#shared/contract/sqs-limits.ts';
import { isOptIn, type OptIn, optIns } from '#shared/controllers/opt-in/writer.ts';
import { controllers } from '#shared/kube/controllers.ts';
import { alone, type SetOptions, type TypedSetOptions } from './set-options.ts';
import { localParts } from './wing.ts';

export interface Options {
  /** Number of embedded clusters: 0 with a kubeconfig. */
  readonly clusters: number;
  readonly kubeconfig: KubeconfigOptions | undefined;
  readonly mode: 'active' | 'shadow';
  /** The user confirms that the built-in controllers of the clusters are off. */
  readonly controllersOff: boolean;
  readonly optIn: OptIn;
  readonly clusterset: SetOptions;
  /** Folder that keeps table and queues from run to run. If undefined, the run deletes them at its end. */
  readonly dataDir: string | undefined;
  readonly settings: Partial<ClusterSettings>;
  /** Folder for a processor profile of each process, written when it ends. */
  readonly profileDir: string | undefined;
  /** The console's port: 0 chooses any free port. */
  readonly port: number;
}

export interface KubeconfigOptions {
  readonly file: string;
  /** Each context is a cluster. An empty list is the current context. */
  readonly contexts: readonly string[];
}

/** The options of `start` as they were typed. */
export interface TypedOptions extends TypedSetOptions {
  readonly clusters?: string;
  readonly data?: string;
  readonly kubeconfig?: string;
  readonly context?: readonly string[];
  readonly mode?: string;
  readonly optIn?: string;
  readonly controllersOff?: boolean;
  readonly batchPeriod?: string;
  readonly maxEndpointsPerSlice?: string;
  readonly controllers?: string;
  readonly port?: string;
  readonly profile?: string;
}

export function checkedOptions(typed: TypedOptions): Options {
  const { kubeconfig, context = [] } = typed;
  checkClusters(typed);
  const mode = checkedMode(typed.mode);
  // Two Services of the demonstration opt in. The hub is the only controller of the others.
  const { optIn = kubeconfig === undefined ? 'active' : 'off' } = typed;
  if (!isOptIn(optIn)) throw new UsageError(`--opt-in ${optIn}: ${optIns.join(', ')}`);
  const batchPeriodSeconds = number('--batch-period', typed.batchPeriod, 0, maxDelaySeconds);
  const maxEndpointsPerSlice = number('--max-endpoints-per-slice', typed.maxEndpointsPerSlice, 1, 1000);
  const twice = context.find((name, i) => context.indexOf(name) !== i);
  if (twice !== undefined) throw new UsageError(`--context ${twice}: given twice`);
  const clusters = kubeconfig === undefined ? (number('--clusters', typed.clusters, 1, 50) ?? 1) : 0;
  return {
    clusters,
    kubeconfig: kubeconfig === undefined ? undefined : { file: kubeconfig, contexts: context },
    // Only shadow mode is safe beside a kube-controller-manager, and a kubeconfig does not show if the
    // cluster runs one.
    mode: mode ?? (kubeconfig === undefined ? 'active' : 'shadow'),
    controllersOff: typed.controllersOff ?? false,
    optIn,
    clusterset: localParts.map((part) => part.checked(typed, clusters))[0] ?? alone,
    dataDir: typed.data,
    profileDir: typed.profile,
    settings: {
      ...chosenControllers(typed.controllers),
      ...(batchPeriodSeconds !== undefined && { batchPeriodSeconds }),
      ...(maxEndpointsPerSlice !== undefined && { maxEndpointsPerSlice }),
    },
    port: number('--port', typed.port || undefined, 0, 65_535) ?? 8080,
  };
}

function checkClusters({ kubeconfig, context = [], mode, clusters }: TypedOptions): void {
  if (kubeconfig === undefined && (context.length > 0 || mode !== undefined))
    throw new UsageError(`--${context.length === 0 ? 'mode' : 'context'} needs --kubeconfig FILE`);
  if (kubeconfig !== undefined && clusters !== undefined)
    throw new UsageError('--clusters is for embedded clusters: leave it out with --kubeconfig');
}

function checkedMode(mode: string | undefined): Options['mode'] | undefined {
  if (mode === undefined || mode === 'shadow' || mode === 'active') return mode;
  throw new UsageError(`--mode ${mode}: shadow or active`);
}

/** The setting `controllers` of clusters.yaml. */
function chosenControllers(chosen: string | undefined): Partial<ClusterSettings> {
  if (chosen === undefined) return {};
  if (chosen !== 'endpoints' && chosen !== 'slices' && chosen !== 'both')
    throw new UsageError(`--controllers ${chosen}: endpoints, slices or both`);
  return { controllers: chosen === 'both' ? controllers : [chosen] };
}

function number(name: string, text: string | undefined, least: number, most: number): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < least || value > most)
    throw new UsageError(`${name} ${text}: a whole number from ${least} to ${most}`);
  return value;
}
