/** `explain` by kubectl's connection alone: no hub, no AWS, nothing installed in the cluster. */
import { liveExplanationData } from '#infra/cli/ask/explanation-data.ts';
import { listLines } from '#infra/cli/ask/lists/service-list.ts';
import { explainLive } from '#infra/cli/ask/live/explain-live.ts';
import { liveServices } from '#infra/cli/ask/live/list-live.ts';
import { type LiveCluster, liveCluster } from '#infra/cli/ask/live/live-cluster.ts';
import { defaultKubeconfig } from '#infra/cli/hub/kubectl-context.ts';
import { follow } from '#infra/cli/terminal/follow.ts';
import { type Printing, printLines } from '#infra/cli/terminal/print-answer.ts';
import { UsageError } from '#infra/cli/terminal/usage-error.ts';
import { kubeconfigCluster } from '#infra/local/clusters/kubeconfig.ts';
import { mcsVersions } from '#shared/clusters/api/mcs-versions.ts';
import { type HttpTransport, httpTransport } from '#shared/clusters/api/transport.ts';
import { type OutputChoice, printingOf } from './arguments/output-option.ts';
import { printExplanation, printTimeline } from './print-explanation.ts';

export interface LiveChoice extends OutputChoice {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespace?: string;
  readonly allNamespaces?: boolean;
  readonly notReady?: boolean;
  readonly timeline?: string;
  readonly watch?: boolean;
}

/** Throws a UsageError for a service without a name, and for a kubeconfig that cannot be used. */
export async function explainByKubeconfig(
  service: string | undefined,
  pod: string | undefined,
  options: LiveChoice,
): Promise<void> {
  const { found, transport } = await openKubeconfig(options.kubeconfig, options.context);
  const cluster = (): LiveCluster => liveCluster(transport);
  const printing = printingOf(options);
  try {
    if (service === undefined) {
      if (!options.allNamespaces && options.namespace === undefined)
        throw new UsageError('which service? NAMESPACE/SERVICE, or -n NAMESPACE or -A to list them');
      const shown = await liveServices(cluster(), options.namespace, options.notReady === true);
      return printLines(listLines(shown, printing.format, 'every Service can be reached'), printing);
    }
    const asked = serviceOf(service, options.namespace ?? found.namespace);
    if (options.timeline !== undefined) {
      const { liveTimeline } = await import('#infra/cli/ask/timeline/live-timeline.ts');
      const of = { context: found.context, ...asked, pod: options.timeline };
      return printTimeline(await liveTimeline(cluster(), of), printing);
    }
    const print = printExplanation(printing, options.notReady === true, pod);
    const answer = async (): Promise<void> => {
      const live = cluster();
      const explanation = await explainLive(live, { context: found.context, ...asked, pod });
      print(explanation, liveExplanationData(explanation, live.now()), live.now());
    };
    if (!options.watch) return await answer();
    // The measured delays are for people: the formats of programs have answers alone.
    if (printing.format === undefined || printing.format === 'wide')
      void tellDelays(transport, asked, printing);
    await follow(answer);
  } finally {
    transport.close();
  }
}

/** Until the process ends. */
async function tellDelays(
  transport: HttpTransport,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  printing: Printing,
): Promise<void> {
  const [{ followDelays }, { httpWatchSource }, { systemClock: clock }] = await Promise.all([
    import('#infra/cli/ask/live/live-delays.ts'),
    import('#functions/relay/source/watch-source-http.ts'),
    import('#functions/relay/runtime/clock.ts'),
  ]);
  const source = httpWatchSource(transport, clock, { namespace });
  const tell = (text: string): void =>
    printLines([{ text: `${new Date().toISOString()} ${text}`, style: 'faint' }], printing);
  await followDelays({ ...{ source, name, clock, tell } }, new AbortController().signal);
}

/** `transport` renews the token, and has the version of the MCS API that the cluster serves. */
export async function openKubeconfig(file: string | undefined, context: string | undefined) {
  const found = await kubeconfigCluster(file ?? defaultKubeconfig(), context);
  const opened = httpTransport(await found.connection(), { timeoutMs: 30_000, token: found.token });
  return { found, transport: mcsVersions(opened) };
}

/** `shop/web`, or `web` and `svc/web` in the namespace. */
function serviceOf(text: string, namespace: string): { readonly namespace: string; readonly name: string } {
  const [, own, name] = text.match(/^(?:([^/]+)\/)?([^/]+)$/) ?? [];
  if (name === undefined) throw new UsageError(`${JSON.stringify(text)} is not NAMESPACE/SERVICE`);
  const isKind = own === undefined || /^(svc|service|services)$/.test(own);
  return { namespace: isKind ? namespace : own, name };
}
