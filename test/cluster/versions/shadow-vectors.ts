/**
 * Shadow mode beside a version's own controllers, in virtual time: the hub sees the inputs of a recorded
 * vector and what these controllers wrote.
 */
import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import { readDifference } from '#shared/store/outputs/shadow-record.ts';
import { cluster, HubWorld } from '#test/support/hub-world.ts';
import type { Step, Vector } from '#test/worlds/conformance/vector.ts';

/**
 * A vector with the Endpoints and EndpointSlices after each step (`-outputs` of
 * test/cluster/control-plane/record).
 */
export interface WholeVector extends Vector {
  readonly steps: readonly (Step & { readonly outputs: readonly RawObject[] })[];
}

export interface ShadowDifference {
  readonly step: number;
  /** As `namespace/name`. */
  readonly service: string;
  readonly line: string;
}

/** Longer than a batch period, and than the time after which shadow mode confirms a difference. */
const restMs = 30_000;
const startAt = Date.parse('2026-01-02T00:00:00Z');
const isOutput = ({ kind }: { readonly kind: string }): boolean =>
  kind === 'Endpoints' || kind === 'EndpointSlice';

/** Returns the differences that shadow mode has saved at rest after each step. */
export async function playInShadow(
  vector: WholeVector,
  kubernetesVersion: string,
): Promise<readonly ShadowDifference[]> {
  const world = await HubWorld.start({
    given: vector.given,
    startAt,
    settings: {
      maxEndpointsPerSlice: vector.config.maxEndpointsPerSlice,
      batchPeriodSeconds: vector.config.endpointUpdatesBatchPeriodSeconds,
    },
    mode: 'shadow',
    optIn: 'off',
  });
  await world.sendHeartbeat(kubernetesVersion);
  const differences: ShadowDifference[] = [];
  for (const [i, step] of vector.steps.entries()) {
    for (const object of step.apply ?? []) if (!isOutput(object)) world.store.apply(object);
    for (const gone of step.delete ?? [])
      if (!isOutput(gone)) world.store.remove(gone.kind as never, gone.namespace ?? '', gone.name);
    writeOutputs(world, step.outputs, vector.steps[i - 1]?.outputs ?? vector.given.filter(isOutput));
    await world.runUntil(world.now + restMs);
    for (const { metadata } of world.store.list('Service')) {
      const { namespace = '', name } = metadata;
      const saved = await readDifference(world.table, { cluster, namespace, name });
      const lines = JSON.parse(saved?.text ?? '[]') as readonly string[];
      differences.push(...lines.map((line) => ({ step: i, service: `${namespace}/${name}`, line })));
    }
  }
  return differences;
}

function writeOutputs(
  { store }: HubWorld,
  outputs: readonly RawObject[],
  before: readonly RawObject[],
): void {
  const versions = new Map(before.map((object) => [idOf(object), object.metadata.resourceVersion]));
  const there = new Set(outputs.map(idOf));
  for (const { kind, metadata } of before)
    if (!there.has(idOf({ kind, metadata } as RawObject)))
      store.remove(kind as never, metadata.namespace ?? '', metadata.name);
  for (const object of outputs)
    if (object.metadata.resourceVersion !== versions.get(idOf(object)))
      store.apply(withoutEmptyNodeNames(object));
}

const idOf = ({ kind, metadata: { namespace, name } }: RawObject): string => `${kind} ${namespace}/${name}`;

/**
 * Upstream writes `nodeName: ""` to Endpoints, which no API server stores (API-7, reference/parity.md D3); the one
 * of the recording does.
 */
const withoutEmptyNodeNames = (object: RawObject): RawObject =>
  JSON.parse(
    JSON.stringify(object, (key, value) => (key === 'nodeName' && value === '' ? undefined : value)),
  ) as RawObject;
