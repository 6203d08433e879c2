/**
 * The part of an export's snapshot that importers read, as compact text: the Service, the selected pods that
 * may be endpoints, and the zones of their nodes. The text omits fields that no imported endpoint depends on,
 * so their changes leave it as it is.
 */
import { labelZone } from '#shared/kube/names.ts';
import { zoneOf } from '#shared/kube/nodes.ts';
import { shouldPodBeInEndpoints } from '#shared/kube/pods.ts';
import { decodeProjection, encodeProjection } from '#shared/kube/projection/projection.ts';
import type { Node, Pod, Service } from '#shared/kube/types.ts';

export interface ExportedPods {
  readonly service: Service;
  /** The pods that the Service selects. */
  readonly pods: readonly Pod[];
  readonly nodes: ReadonlyMap<string, Node>;
}

type Encoded = readonly [
  service: string,
  pods: readonly (readonly [name: string, pod: string])[],
  zones: { readonly [node: string]: string },
];

export function encodeExportedPods({ service, pods, nodes }: ExportedPods): string {
  const { namespace = '', name } = service.metadata;
  const listed = pods.filter((pod) => shouldPodBeInEndpoints(pod, true));
  const zones = listed.flatMap(({ spec }): [string, string][] => {
    const node = nodes.get(spec?.nodeName ?? '');
    return node && zoneOf(node) ? [[node.metadata.name, zoneOf(node)]] : [];
  });
  const encoded: Encoded = [
    encodeProjection('Service', {
      metadata: { namespace, name },
      ...(service.spec && { spec: service.spec }),
    }),
    listed.map((pod) => [pod.metadata.name, encodeProjection('Pod', listedPart(pod))]),
    Object.fromEntries(zones),
  ];
  return JSON.stringify(encoded);
}

function listedPart({ metadata: { name, deletionTimestamp }, spec, status }: Pod): Pod {
  const conditions = status?.conditions?.map(({ type, status: is }) => ({ type, status: is }));
  return {
    metadata: { name, ...(deletionTimestamp && { deletionTimestamp }) },
    ...(spec && { spec }),
    ...(status && { status: { ...status, ...(conditions && { conditions }) } }),
  };
}

export function decodeExportedPods(namespace: string, name: string, text: string): ExportedPods {
  const [service, pods, zones] = JSON.parse(text) as Encoded;
  return {
    service: decodeProjection('Service', namespace, name, service),
    pods: pods.map(([pod, projection]) => decodeProjection('Pod', namespace, pod, projection)),
    nodes: new Map(
      Object.entries(zones).map(([node, zone]) => [
        node,
        { metadata: { name: node, labels: { [labelZone]: zone } } },
      ]),
    ),
  };
}
