/** Detects when the writer has handled all changes so far. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { EndpointSlice, Endpoints } from '#shared/kube/types.ts';
import type { Api } from '#test/e2e/api.ts';
import type { Observed } from '#test/e2e/observed.ts';
import { httpPort, newWorld, type World } from '#test/e2e/world.ts';

export interface Outputs {
  readonly endpoints: readonly Endpoints[];
  readonly slices: readonly EndpointSlice[];
}

export interface Settling {
  /**
   * Resolves to the outputs once later changes are visible and no write follows: of a pod and a service, and
   * then of a slice, which both controllers handle after a second, and so after all earlier changes.
   */
  outputs(): Promise<Outputs>;
  /** Waits for the first two changes only, which proves that a writer runs. */
  shown(): Promise<void>;
}

export const settlingNamespace = 'settling';
const mark = 'mark';
/**
 * A service of its own: right after its slice has come back, upstream would take what it knows of the marked
 * one for out of date (ES-8).
 */
const cut = 'cut';
/** Its slice is deleted several times a step. */
export const cutService = `${settlingNamespace}/${cut}`;
const labels = { app: mark };
const patience = 120_000;

/** `pending` returns the writer's own pending work, which must become empty. */
export async function settling(
  api: Api,
  observed: Observed,
  pending: () => Promise<readonly string[]>,
): Promise<Settling> {
  await api.create('Namespace', '', { metadata: { name: settlingNamespace } });
  await api.create('Node', '', { metadata: { name: 'settling' } });
  const world = newWorld(api, observed, settlingNamespace, ['settling', 'settling']);
  await world.service(mark, { selector: labels, ports: [httpPort] });
  await world.pod(mark, { labels });
  await world.service(cut, { selector: { app: cut }, ports: [httpPort] });
  let round = 0;

  async function shown(): Promise<void> {
    const number = String(++round);
    const ready = round % 2 === 0;
    await Promise.all([
      world.podStatus(mark, { ready }),
      api.patch('Service', settlingNamespace, mark, { metadata: { labels: { round: number } } }),
    ]);
    await world.eventually(() => {
      const [subset] = world.endpoints(mark)?.subsets ?? [];
      const slices = world.slices(mark);
      const as = [ready ? subset?.addresses : subset?.notReadyAddresses].every((list) => list?.length === 1);
      if (!as || slices[0]?.endpoints?.[0]?.conditions?.ready !== ready)
        throw new Error(`a pod's readiness has not shown (${number})`);
      const rounds = [world.endpoints(mark), ...slices].map((o) => o?.metadata.labels?.['round']);
      if (rounds.some((r) => r !== number)) throw new Error(`a service's label has not shown (${number})`);
    }, patience);
  }

  return {
    shown,
    async outputs() {
      await shown();
      for (const limit = Date.now() + patience; ; ) {
        const before = versions(await written(api));
        await sliceComesBack(world);
        // Upstream puts a service off for a second when it has not yet seen its own last write (ES-8), as
        // when a pod's end comes in two steps.
        for (let i = 0; i < 5 && (await namesGonePods(api)); i++) await sliceComesBack(world);
        // Earlier work may be under way on another thread of the writer, so the wait is repeated.
        await shown();
        await nothingPending(pending);
        const after = await written(api);
        if (versions(after) === before) return after;
        if (Date.now() > limit) throw new Error('it does not stop writing');
      }
    },
  };
}

async function sliceComesBack(world: World): Promise<void> {
  const gone = world.slices(cut).map((s) => s.metadata.uid);
  for (const slice of world.slices(cut))
    await world.api.delete('EndpointSlice', settlingNamespace, slice.metadata.name);
  await world.eventually(() => {
    const now = world.slices(cut).map((s) => s.metadata.uid);
    if (now.length === 0 || now.some((uid) => gone.includes(uid)))
      throw new Error('a deleted slice has not come back');
  }, patience);
}

async function nothingPending(pending: () => Promise<readonly string[]>): Promise<void> {
  for (const limit = Date.now() + patience; ; await sleep(50)) {
    const left = await pending();
    if (left.length === 0) return;
    if (Date.now() > limit) throw new Error(`still pending: ${left.join(', ')}`);
  }
}

/** In all namespaces but that of the marks. */
export async function written(api: Api): Promise<Outputs> {
  const others = ({ metadata }: Endpoints | EndpointSlice): boolean =>
    metadata.namespace !== settlingNamespace;
  const [endpoints, slices] = await Promise.all([api.list('Endpoints', ''), api.list('EndpointSlice', '')]);
  return { endpoints: endpoints.items.filter(others), slices: slices.items.filter(others) };
}

/**
 * Resolves to true if slices name deleted pods. This may last for a while, and for ever in slices that a user
 * wrote.
 */
async function namesGonePods(api: Api): Promise<boolean> {
  const [{ slices }, pods] = await Promise.all([written(api), api.list('Pod', '')]);
  const uids = new Set(pods.items.map((p) => p.metadata.uid));
  return slices
    .flatMap((s) => s.endpoints ?? [])
    .some(({ targetRef }) => targetRef?.uid !== undefined && !uids.has(targetRef.uid));
}

const versions = ({ endpoints, slices }: Outputs): string =>
  [...endpoints, ...slices]
    .map((o) => `${o.metadata.uid} ${o.metadata.resourceVersion}`)
    .sort()
    .join();
