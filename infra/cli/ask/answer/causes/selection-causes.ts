/** Why the selector matches no pod, or pods that it should not. */
import type { Labels } from '#shared/kube/labels.ts';
import {
  isSetBased,
  requirementMatches,
  requirementsOf,
  requirementText,
  type Selector,
  selectorMatches,
  selectorText,
} from '#shared/kube/selectors/label-selector.ts';
import type { CoreEvent, Pod } from '#shared/kube/types.ts';
import { bad, type Cause, note } from '../cause.ts';
import { namedPods, someNames } from '../named-pods.ts';
import { nearMiss } from '../near-misses.ts';
import { eventsOf, messageOf, newestEvent } from '../object-events.ts';
import type { Workload, World } from '../world.ts';

/** The first one says it: the others would only be guesses. */
export function nothingSelected(world: World, selector: Selector): Cause {
  const miss = isSetBased(selector) ? undefined : (templateMiss(world, selector) ?? podMiss(world, selector));
  return workloadCause(world, selector) ?? miss ?? elsewhere(world, selector) ?? labelsThere(world, selector);
}

const named = ({ kind, metadata }: Workload): string => `${kind} ${metadata.name}`;
const isOwned = ({ metadata }: Workload): boolean => (metadata.ownerReferences ?? []).length > 0;

/** A workload makes the right pods, and has none. */
function workloadCause({ around, namespace }: World, selector: Selector): Cause | undefined {
  const all = (around.workloads ?? []).filter((w) => selectorMatches(selector, w.templateLabels));
  const tops = all.filter((w) => !isOwned(w));
  const wanted = all.filter((w) => w.replicas !== 0);
  if (tops.length > 0 && wanted.every(isOwned) && tops.every((w) => w.replicas === 0)) {
    const [first] = tops as unknown as readonly [Workload, ...Workload[]];
    const { kind, metadata } = first;
    return note(
      'ScaledToZero',
      `${tops.map(named).join(', ')} ${tops.length === 1 ? 'is' : 'are'} scaled to 0 replicas`,
      `kubectl scale -n ${namespace} ${kind.toLowerCase()}/${metadata.name} --replicas=1, if it is to run`,
    );
  }
  const refused = [...wanted].sort((a, b) => Number(isOwned(b)) - Number(isOwned(a)));
  for (const workload of refused) {
    const why = refusal(workload, around.events ?? []);
    if (why)
      return bad(
        'PodsRefused',
        `${named(workload)} wants ${workload.replicas ?? 'its'} pods, and none is created: ${why}`,
        `kubectl describe -n ${namespace} ${workload.kind.toLowerCase()}/${workload.metadata.name}`,
      );
  }
  const [first] = wanted;
  return first
    ? bad(
        'NoPods',
        `${named(first)} wants ${first.replicas ?? 'some'} pods, and there is none yet`,
        `kubectl describe -n ${namespace} ${first.kind.toLowerCase()}/${first.metadata.name}`,
      )
    : undefined;
}

/** Quota, admission and the like: the controller of the workload says it by condition and Event. */
export function refusal(
  { kind, metadata, conditions }: Workload,
  events: readonly CoreEvent[],
): string | undefined {
  const condition = conditions.find((c) => c.type === 'ReplicaFailure' && c.status === 'True');
  if (condition?.message) return messageOf({ message: condition.message });
  const event = newestEvent(eventsOf(events, kind, metadata.name), 'FailedCreate', 'ReplicaSetCreateError');
  return event && messageOf(event);
}

/** The labels of a Deployment are not those of its pods. */
function templateMiss({ around }: World, selector: Labels): Cause | undefined {
  const found = (around.workloads ?? []).find(
    (w) => selectorMatches(selector, w.metadata.labels) && !isOwned(w),
  );
  if (!found) return undefined;
  const pairs = selectorText(selector);
  return bad(
    'SelectorMismatch',
    `${named(found)} has the label ${pairs} itself, and its pod template has not: its pods have ${selectorText(found.templateLabels) || 'no labels'}`,
    `add ${pairs} to spec.template.metadata.labels of ${named(found)}, or select ${selectorText(found.templateLabels) || 'another label'}`,
  );
}

function podMiss({ pods, around, service }: World, selector: Labels): Cause | undefined {
  const miss =
    nearMiss(
      selector,
      pods.map((pod) => ({ labels: pod.metadata.labels ?? {}, pod })),
    ) ??
    nearMiss(
      selector,
      (around.workloads ?? []).map((w) => ({ labels: w.templateLabels, workload: w })),
    );
  if (!miss) return undefined;
  const near = miss.of.flatMap((of) => ('pod' in of ? [of.pod] : []));
  const whose =
    near.length > 0
      ? namedPods(near)
      : `the pods of ${someNames(miss.of.flatMap((of) => ('workload' in of ? [named(of.workload)] : [])))}`;
  const { namespace, name } = service?.metadata ?? { namespace: '', name: '' };
  return {
    ...bad(
      'SelectorMismatch',
      `the selector matches no pod: ${miss.why.map((why) => why(whose)).join('; ')}`,
      `kubectl edit svc -n ${namespace} ${name}, or the labels of the pods' template`,
    ),
    pods: near.map((p) => p.metadata.name),
  };
}

function elsewhere({ around, namespace }: World, selector: Selector): Cause | undefined {
  const found = around.podsElsewhere ?? [];
  const namespaces = [...new Set(found.map((p) => p.metadata.namespace ?? ''))];
  // A common label proves nothing.
  if (namespaces.length === 0 || namespaces.length > 2) return undefined;
  return bad(
    'OtherNamespace',
    `the selector ${selectorText(selector)} matches no pod of namespace ${namespace}, and pods of namespace ${someNames(namespaces)} (${someNames(found.map((p) => p.metadata.name))}): a Service selects only pods of its own namespace`,
    `create the Service in namespace ${namespaces[0]}`,
  );
}

function labelsThere({ pods, namespace, around }: World, selector: Selector): Cause {
  if (pods.length === 0)
    return bad(
      'NoPods',
      `the selector ${selectorText(selector)} matches no pod: namespace ${namespace} has no pods${around.workloads?.length === 0 ? ' and nothing that makes any' : ''}`,
      `kubectl get deploy,sts,ds -n ${namespace}`,
    );
  const of = requirementsOf(selector).map((requirement) => {
    const { key } = requirement;
    const met = pods.filter((p) => requirementMatches(requirement, p.metadata.labels)).length;
    if (isSetBased(selector) && met > 0)
      return `${requirementText(requirement)} is met by ${met.toLocaleString('en')} of them`;
    const values = [...new Set(pods.flatMap((p) => p.metadata.labels?.[key] ?? []))];
    return values.length > 0
      ? `pods with label ${key} have ${someNames(
          values.map((v) => `${key}=${v}`),
          5,
        )}`
      : `no pod has a label ${key}`;
  });
  return bad(
    'SelectorMismatch',
    `the selector ${selectorText(selector)} matches none of the ${pods.length.toLocaleString('en')} pods of namespace ${namespace}: ${of.join('; ')}`,
    `kubectl get pods -n ${namespace} --show-labels`,
  );
}

/** A selector that also matches the pods of another workload sends it traffic. */
export function severalWorkloads(pods: readonly Pod[], service: string): readonly Cause[] {
  const byApp = Map.groupBy(pods, appOf);
  const apps = [...byApp].filter(([app]) => app !== undefined);
  if (apps.length < 2) return [];
  const [[, main], ...others] = [...apps].sort(
    ([a], [b]) => Number(b === service) - Number(a === service),
  ) as [(typeof apps)[number], ...(typeof apps)[number][]];
  const key = keyOfApp(main[0] as Pod);
  return [
    {
      ...note(
        'SeveralWorkloads',
        `the selector also matches pods of other workloads: ${key} differs: ${apps.map(([app, of]) => `${app} (${namedPods(of)})`).join(', ')}`,
        `add ${key} to the selector, if the Service is for one of them`,
      ),
      pods: others.flatMap(([, of]) => of.map((p) => p.metadata.name)),
    },
  ];
}

/** Labels that name an application by convention. Versions and tracks of one application share them. */
const appKeys = ['app.kubernetes.io/name', 'app', 'k8s-app', 'app.kubernetes.io/component', 'component'];
const keyOfApp = ({ metadata }: Pod): string | undefined =>
  appKeys.find((key) => metadata.labels?.[key] !== undefined);
function appOf(pod: Pod): string | undefined {
  const key = keyOfApp(pod);
  return key === undefined ? undefined : pod.metadata.labels?.[key];
}
