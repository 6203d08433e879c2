/** The answer by the hub's snapshot: what it knows of the cluster, and of its own writes. */
import { type Health, healthOf } from '#infra/cli/ask/answer/health.ts';
import { type Answer, answerOf } from '#infra/cli/ask/answer/service-answer.ts';
import { type Writers, writersFor } from '#shared/clusters/writer/writer-for.ts';
import { partState } from '#shared/workqueue/rules/item.ts';
import { awayPods } from './away-pods.ts';
import { missingLists, notKnown } from './cluster-known.ts';
import { explainPods } from './explain-pods.ts';
import type { PodExplanation, ServiceState } from './explanation.ts';
import type { ExplainInput } from './input.ts';
import { type Standing, statusOf } from './service-status.ts';

export interface Answered {
  readonly standing: Standing;
  /** Undefined if the hub does not know what is served. */
  readonly answer: Answer | undefined;
  readonly pods: readonly PodExplanation[];
  /** Pods of a zone that is away stay. */
  readonly isHeld: boolean;
}

export function answered(input: ExplainInput): Answered {
  const { namespace, name, service, nodes, saved: served, now } = input;
  const standing = statusOf(input);
  const writers = writersFor(service, input.cluster);
  const { why: away, isHeld } = awayPods(input, writers);
  const answer = answerOf({
    ...{ namespace, name, service, nodes, served, now },
    pods: input.pods.flatMap(({ pod }) => pod ?? []),
    around: { isProjected: true, away },
    writing: {
      text: standing.state === 'Written' ? quirk : (overtaken[standing.state]?.text ?? standing.text),
      isUnderWay: standing.isUnderWay === true || standing.state === 'Same',
    },
  });
  const pods = explainPods({ ...input, writers, away }, answer.reachablePods);
  if (!isServedKnown(input, writers)) return { standing, answer: undefined, pods, isHeld };
  // The queue may be empty, and what is served not what is wanted all the same.
  const isBehind = answer.currency === 'Differs' || answer.currency === 'Waits';
  return { standing: (isBehind && overtaken[standing.state]) || standing, answer, pods, isHeld };
}

/** Some changes wake neither controller, such as a phase alone, or a node that comes late. */
const quirk =
  'such a change wakes no controller; the next one of the Service, or the resync within 12 hours, puts it right';

/**
 * Objects of the built-in controllers are known in shadow mode, those of the hub after its first write, and
 * those of other controllers never. Before the first lists, and before the hub has read them, none is. An object
 * that is too large to be saved is in no snapshot.
 */
function isServedKnown({ saved, service, work, cluster }: ExplainInput, { slices }: Writers): boolean {
  if (saved.withoutContent?.includes('EndpointSlice')) return false;
  if (saved.slices.length > 0 || saved.endpoints || !service) return true;
  if (service.spec?.type === 'ExternalName') return true;
  if (missingLists(cluster) !== undefined || isUnread(work)) return false;
  const isFollowed = slices.by === 'built-in' || slices.by === 'opt-in';
  return isFollowed && (slices.writer !== 'built-in' || slices.task !== 'none' || work.ranAtMs > 0);
}

/** A run is pending that reads what another client, or the built-in controllers before, wrote. */
const isUnread = (work: ExplainInput['work']): boolean =>
  work.apiReadGeneration > partState(work, 'slices').doneGeneration;

const overtaken: { readonly [S in ServiceState]?: Standing } = {
  Written: { state: 'OutOfDate', text: 'its slices are not up to date' },
  Same: { state: 'Comparing', text: 'the cluster’s own controllers have not written it yet' },
};

const trouble: readonly ServiceState[] = [
  'Failing',
  'GivenUp',
  'CircuitOpen',
  'WriterConflict',
  'Different',
  'InvalidAnnotation',
  'NoWriter',
];

/** The worse of what is served and of the hub's work. Nothing is green that is not known. */
export function hubHealth(
  state: ServiceState,
  answer: Answer | undefined,
  { cluster, now }: Pick<ExplainInput, 'cluster' | 'now'>,
): Health | undefined {
  if (trouble.includes(state)) return 'bad';
  if (!answer) return isOfOthers.includes(state) ? undefined : 'warning';
  const health = healthOf(answer);
  const isSettled = settled.includes(state) && notKnown(cluster, now) === undefined;
  return health === 'good' && !isSettled ? 'warning' : health;
}

const settled: readonly ServiceState[] = ['Written', 'Same', 'NoSelector', 'DerivedFromImport'];
const isOfOthers: readonly ServiceState[] = ['NoSelector', 'DerivedFromImport'];

export function summaryOf(
  input: ExplainInput,
  { state, text }: Standing,
  answer: Answer | undefined,
): string {
  if (state === 'ServiceDeleted')
    return `The service does not exist${input.saved.slices.length > 0 || input.saved.endpoints ? `; ${text}` : ''}.`;
  if (state === 'DerivedFromImport') return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
  const reach = answer?.reachText ?? notSaved(input);
  const doubt = notKnown(input.cluster, input.now) ?? '';
  return `${[reach, doubt, text === doubt ? '' : text].filter(Boolean).join('; ')}.`;
}

function notSaved({ saved, work, cluster }: ExplainInput): string {
  const unknown = 'Whether it can be reached is not known here';
  if (saved.withoutContent?.includes('EndpointSlice'))
    return `${unknown}: its slices are too large to be saved`;
  if (missingLists(cluster) !== undefined) return unknown;
  return isUnread(work)
    ? `${unknown}: the hub has not read its slices yet`
    : `${unknown}: the hub does not read the slices of other controllers`;
}

/** What the hub does not read, if it may matter. */
export function unread({ namespace, name }: ExplainInput, { reach, causes }: Answer): readonly string[] {
  if (reach === 'NoEndpointsWanted' || (reach === 'Reachable' && causes.length === 0)) return [];
  return [
    `containers, probes, gates, Events, workloads, policies and slices of other controllers, which the hub does not read: kubectl endpoints explain svc/${name} -n ${namespace}`,
  ];
}
