/** Questions to a cluster itself, by a kubeconfig: without a hub, and so without history. */
import { liveExplanationData } from '#infra/cli/ask/explanation-data.ts';
import { explainLive } from '#infra/cli/ask/live/explain-live.ts';
import { liveServices } from '#infra/cli/ask/live/list-live.ts';
import type { LiveCluster } from '#infra/cli/ask/live/live-cluster.ts';
import { liveTimeline } from '#infra/cli/ask/timeline/live-timeline.ts';
import { answerSchema, listSchema, type Tool, takes } from './tool.ts';

/** Each question reads the cluster anew. */
export const clusterTools = (context: string, cluster: () => LiveCluster): readonly Tool[] => [
  {
    name: 'list_services',
    description: `The Services of the cluster of ${context}: whether each can be reached, and its causes.`,
    inputSchema: takes([], ['namespace', 'notReadyOnly']),
    outputSchema: listSchema('services', 'service-list'),
    async answer({ namespace, notReadyOnly = false }) {
      const listed = await liveServices(cluster(), namespace, notReadyOnly);
      return { services: listed.map(({ data }) => data) };
    },
  },
  {
    name: 'explain',
    description:
      'Whether a Service can be reached, why not and what to do next, with the place of each Pod and every object that is served.',
    inputSchema: takes(['namespace', 'service'], ['pod']),
    outputSchema: answerSchema('explanation'),
    async answer({ namespace, service, pod }) {
      const live = cluster();
      const explanation = await explainLive(live, { context, namespace, name: service, pod });
      return liveExplanationData(explanation, live.now());
    },
  },
  {
    name: 'timeline',
    description:
      'The way of a Pod to an endpoint, step by step with times: where the time went, or what it waits for.',
    inputSchema: takes(['namespace', 'service', 'pod']),
    outputSchema: answerSchema('timeline'),
    answer: ({ namespace, service, pod = '' }) =>
      liveTimeline(cluster(), { context, namespace, name: service, pod }),
  },
];
