import { Command } from 'commander';
import { type HubChoice, hubOf, withHub } from './hub-option.ts';
import { serviceOf, withService } from './service-argument.ts';

interface Chosen extends HubChoice {
  readonly at?: string;
  readonly json?: boolean;
}

export const explainCommand = (): Command =>
  withService(withHub(new Command('explain')))
    .summary('why a service has the endpoints that it has')
    .description('Explains the endpoints of a service, and why each of its pods is an address or not.')
    .argument('[pod]', 'this pod alone')
    .option('--at <time>', 'as it was then: 2026-03-01T14:03:00Z, 14:03 (UTC), 20m (ago)')
    .option('--json', 'the whole explanation as JSON')
    .addHelpText(
      'after',
      `
Examples:
  $ fleet-endpoints explain demo-1 shop/web
  $ fleet-endpoints explain demo-1 shop/web --at 14:03
  $ fleet-endpoints explain demo-1 shop/web web-7d4b9c-x2x8k --json`,
    )
    .action(async (chosen: string | undefined, service: string | undefined, pod: string | undefined, options: Chosen) => {
      const [{ explain }, { explanationLines }, { say }, { explainThen }, { ofPod, thenLines }, { timeMs }] = await Promise.all([
        import('#infra/cli/explain-service.ts'),
        import('#infra/cli/explain-text.ts'),
        import('#infra/cli/printable.ts'),
        import('#infra/cli/history-service.ts'),
        import('#infra/cli/history-text.ts'),
        import('#infra/cli/when.ts'),
      ]);
      const { table, now } = await hubOf(options);
      const key = await serviceOf(table, chosen, service);
      // By the hub's clock, as the times of runs are.
      const nowMs = now();
      if (options.at !== undefined) {
        const all = await explainThen(table, key, timeMs('--at', options.at, nowMs), nowMs);
        const then = pod === undefined ? all : ofPod(all, pod);
        return say(...(options.json ? JSON.stringify(then, null, 2).split('\n') : thenLines(then, `${key.cluster} ${service}`)));
      }
      const explanation = await explain(table, key, nowMs, pod);
      say(...(options.json ? JSON.stringify(explanation, null, 2).split('\n') : explanationLines(explanation)));
    });
