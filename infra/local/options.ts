/** The command line of `npm start`. */

import { parseArgs } from 'node:util';
import { UsageError } from '#infra/cli/usage-error.ts';
import type { ClusterSettings } from '#shared/contract/cluster-settings.ts';
import { longestDelaySeconds } from '#shared/contract/sqs-limits.ts';
import { isOptIn, type OptIn, optIns } from '#shared/opt-in/writer.ts';

export interface Options {
  /** Embedded clusters; 0 with a kubeconfig. */
  readonly clusters: number;
  readonly kubeconfig: { readonly file: string; readonly context: string | undefined } | undefined;
  readonly mode: 'active' | 'shadow';
  readonly optIn: OptIn;
  /** Where table and queues stay from run to run; otherwise in a folder that goes with the run. */
  readonly dataDir: string | undefined;
  readonly settings: Partial<ClusterSettings>;
  /** Of the console; 0 for any free port. */
  readonly port: number;
}

const allowed =
  '--clusters N, --data DIR, --kubeconfig FILE [--context NAME] [--mode shadow|active], --opt-in off|shadow|active, --batch-period SECONDS, --max-endpoints-per-slice N, --controllers endpoints|slices|both';

export function parseOptions(args: readonly string[], env: { readonly [name: string]: string | undefined }): Options {
  const { values } = parse(args);
  const { kubeconfig, context, mode, 'opt-in': optIn = 'off' } = values;
  if (kubeconfig === undefined && (context !== undefined || mode !== undefined)) {
    throw new UsageError(`--${context === undefined ? 'mode' : 'context'} needs --kubeconfig FILE`);
  }
  if (kubeconfig !== undefined && values.clusters !== undefined)
    throw new UsageError('--clusters is for embedded clusters: leave it out with --kubeconfig');
  if (mode !== undefined && mode !== 'shadow' && mode !== 'active') throw new UsageError(`--mode ${mode}: shadow or active`);
  if (!isOptIn(optIn)) throw new UsageError(`--opt-in ${optIn}: ${optIns.join(', ')}`);
  const batchPeriodSeconds = number('--batch-period', values['batch-period'], 0, longestDelaySeconds);
  const maxEndpointsPerSlice = number('--max-endpoints-per-slice', values['max-endpoints-per-slice'], 1, 1000);
  return {
    clusters: kubeconfig === undefined ? (number('--clusters', values.clusters, 1, 50) ?? 1) : 0,
    kubeconfig: kubeconfig === undefined ? undefined : { file: kubeconfig, context },
    // Beside a kube-controller-manager nothing but shadow is safe, and a kubeconfig does not tell whether there is one.
    mode: mode ?? (kubeconfig === undefined ? 'active' : 'shadow'),
    optIn,
    dataDir: values.data,
    settings: {
      ...controllers(values.controllers),
      ...(batchPeriodSeconds !== undefined && { batchPeriodSeconds }),
      ...(maxEndpointsPerSlice !== undefined && { maxEndpointsPerSlice }),
    },
    port: number('PORT', env['PORT'] || undefined, 0, 65_535) ?? 8080,
  };
}

function parse(args: readonly string[]) {
  const string = { type: 'string' } as const;
  const options = {
    clusters: string,
    data: string,
    kubeconfig: string,
    context: string,
    mode: string,
    'opt-in': string,
    'batch-period': string,
    'max-endpoints-per-slice': string,
    controllers: string,
  };
  try {
    return parseArgs({ args: [...args], options, strict: true, allowPositionals: false });
  } catch (e) {
    // The first sentence names the mistake; the others advise on syntax that is not used here.
    throw new UsageError(`${(e as Error).message.split(/\. |\n/)[0]?.replace(/\.$/, '')}. Allowed: ${allowed}`);
  }
}

/** Which of the two a run is of: the settings `endpoints` and `slices` of clusters.yaml. */
function controllers(chosen: string | undefined): Partial<ClusterSettings> {
  if (chosen === undefined) return {};
  if (chosen !== 'endpoints' && chosen !== 'slices' && chosen !== 'both') throw new UsageError(`--controllers ${chosen}: endpoints, slices or both`);
  return { endpoints: chosen !== 'slices', slices: chosen !== 'endpoints' };
}

function number(name: string, text: string | undefined, least: number, most: number): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < least || value > most) throw new UsageError(`${name} ${text}: a whole number from ${least} to ${most}`);
  return value;
}
