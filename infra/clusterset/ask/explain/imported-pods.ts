/** The pods of one source of an import, each with its state in the slices of that source and the reason. */

import type { SourceExplanation } from '#infra/cli/ask/explain/explanation.ts';
import type { MergedExports } from '#shared/clusterset/exports/merge.ts';
import { exposedPorts } from '#shared/clusterset/exports/merge-ports.ts';
import { whyLeftOut } from '#shared/clusterset/imports/left-out.ts';
import type { PreviewedImport } from '#shared/clusterset/imports/preview.ts';
import { sliceVerdict } from '#shared/controllers/verdicts/pod-verdicts.ts';
import { addressTypesOf } from '#shared/kube/address-types.ts';
import type { Node, Pod, Service } from '#shared/kube/types.ts';
import type { SourceInput } from './set-input.ts';

export type SourcePod = SourceExplanation['pods'][number];

export interface SourceToExplain {
  readonly source: SourceInput;
  readonly merged: MergedExports;
  readonly preview: PreviewedImport;
}

export function explainSourcePods({
  source: { record, exported },
  merged,
  preview,
}: SourceToExplain): readonly SourcePod[] {
  if (!exported) return [];
  const { service, pods } = exported;
  const own = service.spec?.ports ?? [];
  const ports = exposedPorts(own, merged.spec.ports);
  if (own.length > 0 && ports.length === 0)
    return pods.map((pod) => absent(pod, 'none of the ports of its export is a port of the import'));
  const exposed: Service = { ...service, spec: { ...service.spec, ports } };
  const leftOut = preview.slices.leftOut.filter((l) => l.cluster === record.id);
  return pods.map((pod): SourcePod => {
    // A Node gives imports only the zone, so any Node will do for the verdict.
    const nodes = new Map([[pod.spec?.nodeName ?? '', anyNode]]);
    const verdicts = addressTypesOf(preview.derived).map((family) =>
      sliceVerdict(pod, exposed, family, nodes),
    );
    const listed = verdicts.filter((v) => v.place !== 'absent');
    if (listed.length === 0) return absent(pod, verdicts.map((v) => v.why).join('; '));
    const refused = leftOut.filter((l) => l.pod === pod.metadata.name);
    const addresses = listed.flatMap((v) => v.addresses).filter((a) => !refused.some((l) => l.address === a));
    const why = [...new Set(refused.map((l) => whyLeftOut(l.reason)))].join('; ');
    if (addresses.length === 0) return absent(pod, why);
    const isReady = listed.some((v) => v.place === 'ready');
    const reason = listed[0]?.why ?? '';
    const some =
      why === '' ? reason : `${reason}; without ${refused.map((l) => l.address).join(', ')}: ${why}`;
    return { pod: pod.metadata.name, place: isReady ? 'ready' : 'not ready', addresses, why: some };
  });
}

/** Returns the pods of an evicted source. */
export const gonePods = ({ exported }: SourceInput): readonly SourcePod[] =>
  (exported?.pods ?? []).map((pod) => absent(pod, 'its source is evicted, and another one is ready'));

const anyNode: Node = { metadata: { name: '' } };

const absent = (pod: Pod, why: string): SourcePod => ({
  pod: pod.metadata.name,
  place: 'absent',
  addresses: [],
  why,
});
