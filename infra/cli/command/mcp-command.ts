import { Command, Option } from 'commander';
import { type HubChoice, hubOf, withHub } from './arguments/hub-option.ts';

interface Chosen extends HubChoice {
  readonly kubeconfig?: string;
  readonly context?: string;
}

export const mcpCommand = (): Command =>
  withHub(new Command('mcp'))
    .summary('answers agents over MCP')
    .description(
      'Answers the questions of an agent on standard input and output, by the Model Context Protocol:\nexplain, history and lists. Reads only.',
    )
    .option('--context <name>', 'of kubectl: asks its cluster, without a hub')
    .addOption(new Option('--kubeconfig <file>', 'the same, by this file').hideHelp())
    .addHelpText(
      'after',
      `
Examples:
  $ fleet-endpoints mcp --context prod
  $ fleet-endpoints mcp --table NAME`,
    )
    .action(async ({ kubeconfig, context, ...hub }: Chosen) => {
      const [{ StdioServerTransport }, { serveTools }] = await Promise.all([
        import('@modelcontextprotocol/sdk/server/stdio.js'),
        import('#infra/cli/mcp/mcp-server.ts'),
      ]);
      const tools =
        kubeconfig === undefined && context === undefined
          ? (await import('#infra/cli/mcp/hub-tools.ts')).hubTools(await hubOf(hub))
          : await ofCluster(kubeconfig, context);
      await serveTools(tools, new StdioServerTransport());
    });

async function ofCluster(file: string | undefined, context: string | undefined) {
  const [{ clusterTools }, { openKubeconfig }, { liveCluster }] = await Promise.all([
    import('#infra/cli/mcp/cluster-tools.ts'),
    import('./live-explanation.ts'),
    import('#infra/cli/ask/live/live-cluster.ts'),
  ]);
  const { found, transport } = await openKubeconfig(file, context);
  return clusterTools(found.context, () => liveCluster(transport));
}
