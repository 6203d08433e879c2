/** `explain` by kubectl's connection alone: no hub, no AWS, nothing installed in the cluster. */
import { liveExplanationData } from '#infra/cli/ask/explanation-data.ts';
import { explainLive } from '#infra/cli/ask/live/explain-live.ts';
import { liveListLines } from '#infra/cli/ask/live/list-live.ts';
import { type LiveCluster, liveCluster } from '#infra/cli/ask/live/live-cluster.ts';
import { defaultKubeconfig } from '#infra/cli/hub/kubectl-context.ts';
import { follow } from '#infra/cli/terminal/follow.ts';
import { printLines } from '#infra/cli/terminal/print-answer.ts';
import { UsageError } from '#infra/cli/terminal/usage-error.ts';
import { kubeconfigCluster } from '#infra/local/clusters/kubeconfig.ts';
import { mcsVersions } from '#shared/clusters/api/mcs-versions.ts';
import { httpTransport } from '#shared/clusters/api/transport.ts';
import { type OutputChoice, printingOf } from './arguments/output-option.ts';
import { printExplanation } from './print-explanation.ts';

export interface LiveChoice extends OutputChoice {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespace?: string;
  readonly allNamespaces?: boolean;
  readonly notReady?: boolean;
  readonly watch?: boolean;
}

/** Throws a UsageError for a service without a name, and for a kubeconfig that cannot be used. */
export async function explainByKubeconfig(
  service: string | undefined,
  pod: string | undefined,
  options: LiveChoice,
): Promise<void> {
  const file = options.kubeconfig ?? defaultKubeconfig();
  const found = await kubeconfigCluster(file, options.context);
  const transport = httpTransport(await found.connection(), { timeoutMs: 30_000 });
  const cluster = (): LiveCluster => liveCluster(mcsVersions(transport));
  const printing = printingOf(options);
  try {
    if (service === undefined) {
      if (!options.allNamespaces && options.namespace === undefined)
        throw new UsageError('which service? NAMESPACE/SERVICE, or -n NAMESPACE or -A to list them');
      const { format } = printing;
      const list = { namespace: options.namespace, isNotReadyOnly: options.notReady === true, format };
      return printLines(await liveListLines(cluster(), list), printing);
    }
    const asked = serviceOf(service, options.namespace ?? found.namespace);
    const print = printExplanation({ printing, isNotReadyOnly: options.notReady === true, pod });
    const answer = async (): Promise<void> => {
      const live = cluster();
      const explanation = await explainLive(live, { context: found.context, ...asked, pod });
      print(explanation, liveExplanationData(explanation, live.now()), live.now());
    };
    if (options.watch) await follow(answer);
    else await answer();
  } finally {
    transport.close();
  }
}

/** `shop/web`, or `web` and `svc/web` in the namespace. */
function serviceOf(text: string, namespace: string): { readonly namespace: string; readonly name: string } {
  const [, own, name] = text.match(/^(?:([^/]+)\/)?([^/]+)$/) ?? [];
  if (name === undefined) throw new UsageError(`${JSON.stringify(text)} is not NAMESPACE/SERVICE`);
  const isKind = own === undefined || /^(svc|service|services)$/.test(own);
  return { namespace: isKind ? namespace : own, name };
}
