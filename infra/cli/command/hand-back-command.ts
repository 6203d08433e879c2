/** `hand-back`, the way out without the hub: it needs a kubeconfig and nothing else. */
import { createInterface } from 'node:readline/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { Command } from 'commander';
import { UsageError } from '#infra/cli/terminal/usage-error.ts';
import type { Kubeconfig } from '#infra/local/clusters/kubeconfig.ts';
import { serviceName } from './arguments/service-argument.ts';

interface Chosen {
  readonly kubeconfig?: string;
  readonly context?: readonly string[];
  readonly allContexts?: boolean;
  readonly namespace?: string;
  readonly undo?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

/** Below `cluster`, and at the top for `kubectl endpoints hand-back`. */
export const handBackCommand = (below: 'cluster ' | '' = ''): Command =>
  new Command('hand-back')
    .summary('gives opted-in Services back, without the hub')
    .description(
      'Gives Services that opted in back to the built-in controllers without the hub: each gets the selector of its annotation.',
    )
    .argument('[service]', 'NAMESPACE/SERVICE (default: all that opted in)')
    .option('--kubeconfig <file>', "default: KUBECONFIG's first file, or ~/.kube/config")
    .option('--context <name>', 'of the kubeconfig, one or several', collect)
    .option('--all-contexts', 'each context of the kubeconfig')
    .option('-n, --namespace <name>', 'only of this namespace')
    .option('--undo', 'removes the selectors it added: the hub is back')
    .option('--dry-run', 'only prints what it would do')
    .option('-y, --yes', 'does not ask')
    .addHelpText(
      'after',
      `
Examples:
  $ fleet-endpoints ${below}hand-back --context prod --dry-run
  $ kubectl endpoints hand-back svc/web -n shop --yes`,
    )
    .action((service: string | undefined, chosen: Chosen) => run(service, chosen));

const collect = (name: string, before: readonly string[] = []): readonly string[] => [...before, name];

async function run(service: string | undefined, chosen: Chosen): Promise<void> {
  const only = service === undefined ? undefined : serviceName(service, chosen.namespace);
  if (service !== undefined && !only)
    throw new UsageError(`${service} lacks its namespace: NAMESPACE/SERVICE, or -n NAMESPACE`);
  const [{ contextsOf }, { defaultKubeconfig }] = await Promise.all([
    import('#infra/local/clusters/kubeconfig.ts'),
    import('#infra/cli/hub/kubectl-context.ts'),
  ]);
  const file = chosen.kubeconfig ?? defaultKubeconfig();
  if (chosen.allContexts && chosen.context)
    throw new UsageError('--all-contexts with --context: one of them is needed');
  const contexts = chosen.allContexts ? await contextsOf(file) : (chosen.context ?? [undefined]);
  for (const context of contexts) await inCluster(file, context, only, chosen);
}

async function inCluster(
  file: Kubeconfig,
  wanted: string | undefined,
  only: { readonly namespace: string; readonly name: string } | undefined,
  { namespace, undo = false, dryRun = false, yes = false }: Chosen,
): Promise<void> {
  const [{ kubeconfigCluster }, { httpsClusterApi }, { handBackServices }] = await Promise.all([
    import('#infra/local/clusters/kubeconfig.ts'),
    import('#shared/clusters/api/https.ts'),
    import('#infra/cli/act/hand-back-services.ts'),
  ]);
  const { context, connection, token } = await kubeconfigCluster(file, wanted);
  const api = httpsClusterApi(() => connection(), { fieldManager: 'fleet-endpoints-hand-back', token });
  try {
    const done = await handBackServices(
      { api, now: Date.now, pause, waitMs: 60_000 },
      { context, only, namespace, undo, dryRun, confirm: yes ? async () => {} : confirmed },
    );
    if (!done) process.exitCode = 1;
  } finally {
    api.close();
  }
}

/** Throws a UsageError unless the person at the terminal agrees. */
async function confirmed(question: string): Promise<void> {
  if (!process.stdin.isTTY) throw new UsageError(`${question} Add --yes: nobody can be asked here`);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    if (!/^y(es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim()))
      throw new UsageError('nothing was changed');
  } finally {
    terminal.close();
  }
}
