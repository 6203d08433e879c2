/** Questions to a hub. */
import { explainWithInput } from '#infra/cli/ask/explain-service.ts';
import { explainThen } from '#infra/cli/ask/explain-then.ts';
import { explanationData } from '#infra/cli/ask/explanation-data.ts';
import { addressesData, historyData } from '#infra/cli/ask/history-data.ts';
import { readRuns } from '#infra/cli/ask/history-service.ts';
import { ofPod } from '#infra/cli/ask/history-text.ts';
import { describeClusters } from '#infra/cli/ask/lists/cluster-list.ts';
import { listedServices } from '#infra/cli/ask/lists/service-list.ts';
import { hubTimeline } from '#infra/cli/ask/timeline/hub-timeline.ts';
import { chosenClusters, type Hub } from '#infra/cli/hub/connect-hub.ts';
import { spanMs, timeMs } from '#infra/cli/terminal/when.ts';
import type { ServiceKey } from '#shared/store/keys.ts';
import { type Arguments, answerSchema, listSchema, type Tool, takes } from './tool.ts';

type AskedHub = Pick<Hub, 'table' | 'now'>;

/** Newest runs in an answer of `history`, so that it fits into a model's context. */
const mostRuns = 50;

const ofService = ['cluster', 'namespace', 'service'] as const;
const keyOf = ({ cluster, namespace, service }: Arguments): ServiceKey => ({
  ...{ cluster, namespace, name: service },
});

export const hubTools = (hub: AskedHub): readonly Tool[] => [
  {
    name: 'list_clusters',
    description:
      'The clusters of the hub: mode, relay, differences, and how many Services cannot be reached.',
    inputSchema: takes([]),
    outputSchema: listSchema('clusters', 'cluster-list'),
    answer: async () => ({ clusters: await describeClusters(hub) }),
  },
  {
    name: 'list_services',
    description: 'The Services of a cluster: whether each can be reached, and its causes.',
    inputSchema: takes(['cluster'], ['namespace', 'notReadyOnly']),
    outputSchema: listSchema('services', 'service-list'),
    answer: (given) => services(hub, given),
  },
  {
    name: 'explain',
    description:
      'Whether a Service can be reached now, why not and what to do next, with the place of each Pod and every object that is served.',
    inputSchema: takes(ofService, ['pod']),
    outputSchema: answerSchema('explanation'),
    async answer(given) {
      const { input, explanation } = await explainWithInput(hub.table, keyOf(given), hub.now(), given.pod);
      return explanationData(input, explanation);
    },
  },
  {
    name: 'timeline',
    description:
      'The way of a Pod to an endpoint, step by step with times: where the time went, or what it waits for.',
    inputSchema: takes([...ofService, 'pod']),
    outputSchema: answerSchema('timeline'),
    answer: (given) => hubTimeline(hub.table, keyOf(given), given.pod ?? '', hub.now()),
  },
  {
    name: 'explain_at',
    description: 'The addresses of a Service at a past time, each with the reason.',
    inputSchema: takes([...ofService, 'at'], ['pod']),
    outputSchema: answerSchema('addresses'),
    async answer(given) {
      const key = keyOf(given);
      const atMs = timeMs('at', given.at, hub.now());
      const then = await explainThen(hub.table, key, atMs, hub.now());
      return addressesData(key, ofPod(then, given.pod));
    },
  },
  {
    name: 'history',
    description: `What changed the endpoints of a Service, when, why and how late: the newest ${mostRuns} runs, the oldest first.`,
    inputSchema: takes(ofService, ['since', 'pod', 'address']),
    outputSchema: answerSchema('history'),
    answer: (given) => history(hub, given),
  },
];

async function services({ table, now }: AskedHub, given: Arguments): Promise<object> {
  // Throws for an unknown cluster.
  const [cluster = ''] = await chosenClusters(table, given.cluster);
  const { namespace, notReadyOnly: isNotReadyOnly = false } = given;
  const listed = await listedServices(table, { cluster, namespace, isNotReadyOnly, now: now() });
  return { services: listed.map(({ data }) => data) };
}

async function history({ table, now }: AskedHub, given: Arguments): Promise<object> {
  const key = keyOf(given);
  const { since, address, pod } = given;
  const filter = { address, pod };
  const nowMs = now();
  const sinceMs = since === undefined ? 0 : nowMs - spanMs('since', since);
  const { records, remarks } = await readRuns(table, key, { sinceMs, nowMs }, filter);
  return historyData(key, { records: records.slice(-mostRuns), remarks }, filter);
}
