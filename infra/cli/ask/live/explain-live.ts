/** Explains a Service from the cluster itself: without a hub, and with nothing installed in the cluster. */

import { healthOf } from '#infra/cli/ask/answer/health.ts';
import type { ServedObject } from '#infra/cli/ask/answer/served-objects.ts';
import type { World } from '#infra/cli/ask/answer/world.ts';
import { explainPods } from '#infra/cli/ask/explain/explain-pods.ts';
import type { Explanation, Fact, FactGroup } from '#infra/cli/ask/explain/explanation.ts';
import { serviceFacts } from '#infra/cli/ask/explain/facts.ts';
import { savedAddresses } from '#infra/cli/ask/explain/saved.ts';
import { UsageError } from '#infra/cli/terminal/usage-error.ts';
import { writerOf } from '#shared/controllers/opt-in/writer.ts';
import type { LiveCluster } from './live-cluster.ts';
import { type LiveAnswer, readAnswer } from './read-world.ts';

export interface LiveQuestion {
  /** The name of the context, for the first line. */
  readonly context: string;
  readonly namespace: string;
  readonly name: string;
  readonly pod: string | undefined;
}

/** Throws a UsageError for an unknown pod. */
export async function explainLive(cluster: LiveCluster, question: LiveQuestion): Promise<Explanation> {
  const { namespace, name } = question;
  const answered = await readAnswer(cluster, namespace, name);
  const explanation = liveExplanation(question, answered, cluster.unread);
  const { pod } = question;
  if (pod === undefined) return explanation;
  const pods = explanation.pods.filter((p) => p.pod === pod);
  if (pods.length === 0) throw new UsageError(`no pod ${pod} in namespace ${namespace}`);
  return { ...explanation, pods, saved: explanation.saved.filter((s) => s.pod === pod) };
}

function liveExplanation(
  { context, namespace, name, pod }: LiveQuestion,
  { world, answer }: LiveAnswer,
  unread: LiveCluster['unread'],
): Explanation {
  const { service, nodes, served: saved } = world;
  const selected = new Set(answer.pods.map((p) => p.name));
  // Without a hub the controllers of the cluster write, except for Services that opt in.
  const task = service && writerOf(service).by === 'opt-in' ? 'write' : 'compare';
  const pods = explainPods(
    {
      ...{ namespace, name, service, nodes, saved },
      // The near misses are among the causes.
      pods: world.pods
        .filter((p) => selected.has(p.metadata.name) || p.metadata.name === pod)
        .map((p) => ({ name: p.metadata.name, pod: p, formerLabels: [] })),
      writers: { endpoints: { task }, slices: { task } },
      ...(pod !== undefined && { asked: pod }),
    },
    answer.reachablePods,
  );
  return {
    ...{ cluster: context, namespace, name },
    health: healthOf(answer),
    summary: `${answer.summary}.`,
    groups: [
      ...(service
        ? [{ title: 'Service', facts: serviceFacts(service, { hints: undefined, writer: undefined }) }]
        : []),
      servedFacts(answer.served),
    ],
    saved: savedAddresses(saved),
    ...{ pods, differencesTitle: '', differences: [], answer },
    unknown: unknownOf(unread, world),
  };
}

const servedFacts = (served: LiveAnswer['answer']['served']): FactGroup => ({
  title: 'Served',
  facts:
    served.length === 0
      ? [{ label: 'Nothing', text: 'neither EndpointSlices nor Endpoints bear its name' }]
      : [...Map.groupBy(served, ({ kind, manager }) => `${kind} ${manager}`).values()].flatMap((alike) =>
          alike.length > maxNamed ? [folded(alike)] : alike.map(servedFact),
        ),
});

/** More slices of one manager are told together. */
const maxNamed = 4;

const servedFact = ({ kind, name, manager, addresses, ready, ports }: ServedObject): Fact => ({
  label: `${kind} ${name}`,
  text: `${ready} of ${addresses} addresses ready, ports ${ports}, of ${manager}`,
});

function folded(alike: readonly ServedObject[]): Fact {
  const total = (count: 'ready' | 'addresses'): string =>
    alike.reduce((sum, o) => sum + o[count], 0).toLocaleString('en');
  const ports = [...new Set(alike.map((o) => o.ports))].join('; ');
  return {
    label: `${alike.length} EndpointSlices`,
    text: `${total('ready')} of ${total('addresses')} addresses ready, ports ${ports}, of ${alike[0]?.manager}`,
  };
}

const consequences: { readonly [kind: string]: string } = {
  pods: 'which pods the selector matches, and why they are not ready',
  nodes: 'whether nodes are ready, and their zones',
  endpoints: 'the Endpoints, which old clients read',
  events: 'messages of probes, of the scheduler and of refused writes',
  deployments: 'whether a Deployment is scaled to zero, and the labels of its pods',
  replicasets: 'whether a ReplicaSet may create its pods, and the labels of these',
  statefulsets: 'whether a StatefulSet is scaled to zero, and the labels of its pods',
  daemonsets: 'the labels of a DaemonSet’s pods',
  networkpolicies: 'whether a NetworkPolicy drops the traffic',
  namespaces: 'whether the namespace is being deleted',
  'pods of other namespaces': 'whether pods of another namespace have these labels',
  'services of other namespaces': 'whether another namespace has a Service of that name',
};

/** What follows from kinds that could not be read. */
function unknownOf(unread: LiveCluster['unread'], { around, service }: World): readonly string[] {
  const refused = [...unread].map(
    ([kind, why]) => `${consequences[kind] ?? kind}: ${kind} could not be read (${why})`,
  );
  const isExported = around.serviceExport !== undefined && service !== undefined;
  return [
    ...refused,
    ...(isExported
      ? [
          'whether the exports of other clusters conflict (headless or not, type, ports): each cluster sees its own ServiceExport alone, and its conditions',
        ]
      : []),
  ];
}
