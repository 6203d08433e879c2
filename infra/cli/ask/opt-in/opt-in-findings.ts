/**
 * The points of docs/use/opt-in.md for one Service: what works differently after its selector is removed, and
 * what must come first. Pure.
 */

import type { Explanation, ServiceState } from '#infra/cli/ask/explain/explanation.ts';
import type { ExplainInput } from '#infra/cli/ask/explain/input.ts';
import { derivedFromImport } from '#infra/cli/ask/explain/writer-facts.ts';
import { clusterFindings } from '#infra/cli/ask/readiness/preflight.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { isDeregistered } from '#shared/clusters/writer/mode.ts';
import { blockedBy } from '#shared/clusters/writer/writer-conflict.ts';
import { writerFor } from '#shared/clusters/writer/writer-for.ts';
import { parseSelector, withoutEquivalent } from '#shared/controllers/opt-in/selector.ts';
import { annotationSelector, labelZoneId } from '#shared/kube/names.ts';
import { zoneIdOf } from '#shared/kube/nodes.ts';
import { isSetBased, sameSelectors, selectorText } from '#shared/kube/selectors/label-selector.ts';
import type { Service } from '#shared/kube/types.ts';
import { type LiveService, liveFindings } from './opt-in-live.ts';
import { type OptInFinding, point } from './opt-in-point.ts';

/** `live` is a text if the cluster was not read: the reason. */
export function optInFindings(
  input: ExplainInput,
  explanation: Explanation,
  live: LiveService | string,
): readonly OptInFinding[] {
  const { service, cluster, now, namespace, name } = input;
  if (!service) return [point('Type', 'blocks', 'the Service is deleted')];
  const refusal = refusedType(service);
  if (refusal) return [point('Type', 'blocks', refusal)];
  return [
    point('Type', 'fine', `a Service of type ${service.spec?.type ?? 'ClusterIP'}`),
    annotation(service),
    clusterSwitch(service, cluster),
    hub(cluster, now),
    ...zonalShift(input),
    state(explanation),
    ...liveFindings(live, cluster.settings.optInCleanup),
    exported(input),
    headless(service),
    point(
      'Kubectl',
      'applies',
      `kubectl port-forward, logs and exec with svc/${name}, and the API server's proxy to ${namespace}/${name}, do not work`,
    ),
    point(
      'HubOutage',
      'applies',
      'while the hub or its region is down, the endpoints do not change; the selector gives the Service back',
    ),
  ];
}

function refusedType(service: Service): string | undefined {
  if (service.spec?.type === 'ExternalName')
    return 'the Service is of type ExternalName, which has no endpoints';
  const imported = derivedFromImport(service);
  if (imported !== undefined) return `the Service is derived from ServiceImport ${imported}`;
  if (!service.spec?.selector && service.metadata.annotations?.[annotationSelector] === undefined)
    return `the Service has neither a selector nor the annotation ${annotationSelector}: its endpoints are made by hand or by another controller`;
  return undefined;
}

function annotation({ metadata, spec }: Service): OptInFinding {
  const text = metadata.annotations?.[annotationSelector];
  const own = spec?.selector;
  const wanted =
    own && parseSelector(selectorText(own)).selector
      ? `${annotationSelector}=${selectorText(own)}`
      : undefined;
  const annotate =
    wanted === undefined
      ? null
      : `kubectl -n ${metadata.namespace} annotate service ${metadata.name} ${wanted}`;
  if (text === undefined) {
    const tooMuch = own ? parseSelector(selectorText(own)).error : undefined;
    return point(
      'Annotation',
      'blocks',
      tooMuch ? `the selector does not fit the annotation: ${tooMuch}` : 'missing',
      annotate,
    );
  }
  const { selector, error } = parseSelector(text);
  if (error !== undefined) return point('Annotation', 'blocks', `invalid: ${error}`, annotate);
  const setBased = isSetBased(selector) ? `; ${withoutEquivalent}` : '';
  if (own && !sameSelectors(selector, own))
    return point(
      'Annotation',
      'applies',
      `${selectorText(selector)} differs from the selector ${selectorText(own)}: the addresses change${setBased}`,
      annotate,
    );
  if (setBased) return point('Annotation', 'applies', `${selectorText(selector)}${setBased}`);
  return point('Annotation', 'fine', selectorText(selector));
}

/**
 * Would the hub write the slices of this Service without its selector? A valid annotation is the other half
 * of the answer.
 */
function clusterSwitch(service: Service, cluster: ClusterRecord): OptInFinding {
  if (isDeregistered(cluster))
    return point(
      'Switch',
      'blocks',
      `${cluster.id} is deregistered`,
      'put it into clusters.yaml, and deploy',
    );
  const { selector: _, ...spec } = service.spec ?? {};
  const annotations = { ...service.metadata.annotations, [annotationSelector]: 'app=any' };
  const { task, why } = writerFor(
    { ...service, metadata: { ...service.metadata, annotations }, spec },
    cluster,
    'slices',
  );
  if (task === 'write') return point('Switch', 'fine', `opt-in is active in ${cluster.id}`);
  const [, reason = why] = /; (.*)$/.exec(why) ?? [];
  const remedy = cluster.optIn === 'active' ? null : `fleet-endpoints cluster opt-in ${cluster.id} active`;
  return point('Switch', 'blocks', reason, remedy);
}

function hub(cluster: ClusterRecord, now: number): OptInFinding {
  const shown = clusterFindings(cluster, now);
  const bad = shown.filter(({ ok }) => !ok).map(({ check, detail }) => `${check}: ${detail}`);
  const circuit = blockedBy(cluster);
  if (circuit) bad.push(`the circuit is open: ${circuit}`);
  const text = (bad.length > 0 ? bad : shown.map(({ check, detail }) => `${check}: ${detail}`)).join('; ');
  return point(
    'Hub',
    bad.length > 0 ? 'blocks' : 'fine',
    text,
    bad.length > 0 ? 'fleet-endpoints doctor' : null,
  );
}

/** Without its selector the Service leaves EKS's own protection against an impaired zone. */
function zonalShift({ cluster, nodes }: ExplainInput): readonly OptInFinding[] {
  const { api, settings, zones } = cluster;
  if (api?.auth?.type !== 'eks') return [];
  if (settings.zonalShift === 'ignore')
    return [point('ZonalShift', 'applies', 'settings.zonalShift: ignore keeps the pods of a shifted zone')];
  switch (zones.reading?.state) {
    case 'read':
      if (nodes.size > 0 && [...nodes.values()].every((node) => zoneIdOf(node) === ''))
        return [
          point(
            'ZonalShift',
            'blocks',
            `the hub knows no Node with the label ${labelZoneId}, by which ARC names a zone, so the pods of a shifted zone would stay`,
            "apply the relay's manifest of this version; EKS sets the label since version 1.30",
          ),
        ];
      return [
        point('ZonalShift', 'fine', "the hub follows the cluster's zonal shifts within about a minute"),
      ];
    case 'off':
      return [point('ZonalShift', 'fine', 'zonal shift is not enabled for the cluster')];
    case 'denied':
      return [
        point(
          'ZonalShift',
          'blocks',
          "the hub may not read the cluster's zonal shifts, so the pods of a shifted zone would stay",
          'give api.auth.roleArn the statement of docs/use/zones.md, or set settings.zonalShift: ignore',
        ),
      ];
    default:
      return [point('ZonalShift', 'unknown', "the cluster's zonal shifts have not been read yet")];
  }
}

const verdictOf: { readonly [S in ServiceState]?: OptInFinding['verdict'] } = {
  Same: 'fine',
  Written: 'fine',
  HandOver: 'applies',
  Pending: 'unknown',
  Comparing: 'unknown',
  NotWritten: 'unknown',
};

/** The remedy prints the differences, of which there may be many. */
function state({ state: found, health, summary, cluster, namespace, name }: Explanation): OptInFinding {
  const wellWritten = (found && verdictOf[found]) ?? 'blocks';
  // What is written as it should be may still be out of reach, or not known.
  const verdict =
    wellWritten === 'fine' && (health === 'bad' || health === 'warning') ? 'applies' : wellWritten;
  return point(
    'State',
    verdict,
    summary,
    verdict === 'fine' ? null : `fleet-endpoints explain ${cluster} ${namespace}/${name}`,
  );
}

function exported({ set }: ExplainInput): OptInFinding {
  if (set?.exportSummary === undefined) return point('Exported', 'fine', 'no ServiceExport has its name');
  return point(
    'Exported',
    'applies',
    'exported: imports follow the annotation too, and its last valid selector while it is invalid or missing',
  );
}

function headless({ spec }: Service): OptInFinding {
  if (spec?.clusterIP !== 'None') return point('Headless', 'fine', 'not headless');
  const families = (spec.ipFamilies ?? []).join(' and ') || 'of unknown families';
  return point(
    'Headless',
    'applies',
    `headless, ${families}: created again without a selector, it is dual-stack by default`,
    'give spec.ipFamilyPolicy and spec.ipFamilies in its manifest',
  );
}
