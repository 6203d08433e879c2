import { once } from 'node:events';
import { Command, InvalidArgumentError, Option } from 'commander';
import { type HubChoice, hubOf, withHub } from './arguments/hub-option.ts';
import { isJson, type OutputChoice, withJson } from './arguments/output-option.ts';

interface Chosen extends HubChoice, OutputChoice {
  readonly hubName?: string;
  readonly port: number;
}

export const consoleCommand = (): Command =>
  withJson(withHub(new Command('console')), 'the address as JSON: {"url": …}')
    .summary('dashboards, fleet and services in a browser')
    .description(
      'Serves dashboards, fleet and services of a deployed hub on this machine, with its AWS credentials. It changes nothing. A local run has its own console, whose address the command prints.',
    )
    .addOption(
      new Option('--hub-name <name>', "the deployed hub's name, if its table's name does not begin with it"),
    )
    .option('--port <number>', "port of the deployed hub's console; 0 for any free port", port, 8081)
    .addHelpText(
      'after',
      `
Examples:
  $ fleet-endpoints console                 # of the local run
  $ fleet-endpoints console --table NAME    # the output TableName of the hub`,
    )
    .action(async ({ table, hub, hubName, port, ...output }: Chosen) => {
      const print = (url: string): void => console.log(isJson(output) ? JSON.stringify({ url }) : url);
      if (table) await serve(table, { hubName, port, print });
      else {
        const { localAddresses } = await import('#infra/cli/hub/connect-hub.ts');
        print(localAddresses(hub || undefined).consoleUrl);
      }
    });

interface Serving {
  readonly hubName: string | undefined;
  readonly port: number;
  readonly print: (url: string) => void;
}

async function serve(table: string, { hubName = hubNameOf(table), port, print }: Serving): Promise<void> {
  const { deployedConsole } = await import('#infra/console/deployed-console.ts');
  const { server, price } = await deployedConsole(await hubOf({ table }), hubName, port);
  print(server.url);
  console.error(`${price} Ctrl-C ends it.`);
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  server.close();
}

/** The table's stack is named after the hub, and CloudFormation names the table after the stack. */
export const hubNameOf = (table: string): string => table.replace(/-snapshot-.*$/, '');

function port(text: string): number {
  const number = Number(text);
  if (!/^\d+$/.test(text) || number > 65_535) throw new InvalidArgumentError('0 to 65535 are allowed');
  return number;
}
