/** The pods of a Service that are no endpoints because their zone is away, as a run now would find them. */
import type { Writers } from '#shared/clusters/writer/writer-for.ts';
import { awayNow, awayReason } from '#shared/clusters/zones-away.ts';
import { withOptInSelector } from '#shared/controllers/opt-in/writer.ts';
import { podsAway } from '#shared/controllers/zones/pods-away.ts';
import { selectorMatches } from '#shared/kube/selectors/label-selector.ts';
import type { ExplainInput } from './input.ts';

export interface AwayPods {
  /** Why each of them is left out, by its name. */
  readonly why: ReadonlyMap<string, string>;
  /** Pods of such a zone stay, because no ready pod elsewhere serves all that they serve. */
  readonly isHeld: boolean;
}

export function awayPods(input: ExplainInput, writers: Writers): AwayPods {
  const { cluster, service, pods, nodes, now } = input;
  const isOurs = ['write', 'preview'].includes(writers.slices.task) || writers.endpoints.task === 'write';
  const { settings, zones: known } = cluster;
  // The controllers of EKS follow its zonal shifts, and no operator of the hub.
  const away = awayNow({ settings, zones: isOurs ? known : { ...known, byOperators: [] } }, now);
  const zones = new Set(away.map(({ zone }) => zone));
  if (!service || zones.size === 0) return { why: new Map(), isHeld: false };
  const of = withOptInSelector(service, 'active');
  const selected = pods.flatMap(({ pod }) =>
    pod && selectorMatches(of.spec?.selector ?? {}, pod.metadata.labels) ? [pod] : [],
  );
  const { pods: out, isHeld } = podsAway(of, { pods: selected, nodes, zonesAway: zones });
  const why = selected
    .filter(({ metadata }) => out.has(metadata.name))
    .map(
      ({ metadata: { name }, spec }) => [name, awayReason(away, nodes.get(spec?.nodeName ?? ''))] as const,
    );
  return { why: new Map(why), isHeld: isHeld && isOurs };
}
