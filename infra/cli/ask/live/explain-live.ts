/** Explains a Service from the cluster itself: without a hub, and with nothing installed in the cluster. */

import { healthOf } from '#infra/cli/ask/answer/health.ts';
import type { ServedObject } from '#infra/cli/ask/answer/served-objects.ts';
import type { Answer } from '#infra/cli/ask/answer/service-answer.ts';
import type { World } from '#infra/cli/ask/answer/world.ts';
import { explainPods } from '#infra/cli/ask/explain/explain-pods.ts';
import type { Explanation, Fact, FactGroup } from '#infra/cli/ask/explain/explanation.ts';
import { serviceFacts } from '#infra/cli/ask/explain/facts.ts';
import { savedAddresses } from '#infra/cli/ask/explain/saved.ts';
import { UsageError } from '#infra/cli/terminal/usage-error.ts';
import { writerOf } from '#shared/controllers/opt-in/writer.ts';
import type { LiveCluster } from './live-cluster.ts';
import { readAnswer } from './read-world.ts';

export interface LiveQuestion {
  /** The name of the context, for the first line. */
  readonly context: string;
  readonly namespace: string;
  readonly name: string;
  readonly pod: string | undefined;
}

/** Throws a UsageError for an unknown pod. */
export async function explainLive(cluster: LiveCluster, question: LiveQuestion): Promise<Explanation> {
  const { context, namespace, name, pod: asked } = question;
  const { world, answer } = await readAnswer(cluster, namespace, name);
  const pods = podsOf(world, answer, asked).filter(({ pod }) => asked === undefined || pod === asked);
  if (asked !== undefined && pods.length === 0)
    throw new UsageError(`no pod ${asked} in namespace ${namespace}`);
  const { service, served } = world;
  const facts = service && serviceFacts(service, { hints: undefined, writer: undefined });
  return {
    ...{ cluster: context, namespace, name },
    health: healthOf(answer),
    summary: `${answer.summary}.`,
    groups: [...(facts ? [{ title: 'Service', facts }] : []), servedFacts(answer.served)],
    saved: savedAddresses(served).filter(({ pod }) => asked === undefined || pod === asked),
    ...{ pods, differencesTitle: '', differences: [], answer },
    unknown: unknownOf(cluster.unread, world),
  };
}

/** The near misses are among the causes. */
function podsOf(
  { namespace, name, service, nodes, served: saved, pods: all }: World,
  { pods, reachablePods }: Answer,
  asked: string | undefined,
): Explanation['pods'] {
  const selected = new Set(pods.map((p) => p.name));
  // Without a hub the controllers of the cluster write, except for Services that opt in.
  const task = service && writerOf(service).by === 'opt-in' ? 'write' : 'compare';
  const input = {
    ...{ namespace, name, service, nodes, saved },
    pods: all
      .map((pod) => ({ name: pod.metadata.name, pod, formerLabels: [] }))
      .filter((p) => selected.has(p.name) || p.name === asked),
    writers: { endpoints: { task }, slices: { task } } as const,
    ...(asked !== undefined && { asked }),
  };
  return explainPods(input, reachablePods);
}

const servedFacts = (served: Answer['served']): FactGroup => ({
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
  return around.serviceExport && service ? [...refused, otherExports] : refused;
}

const otherExports =
  'whether the exports of other clusters conflict (headless or not, type, ports): each cluster sees its own ServiceExport alone, and its conditions';
