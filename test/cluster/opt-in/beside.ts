/**
 * A real control plane with its own controllers on, and the hub that writes for Services that opt in alone,
 * as the writer with the rights for that.
 */
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { addressesServed } from '#shared/controllers/opt-in/hand-over.ts';
import {
  annotationSelector,
  labelSliceManagedBy,
  optInManagedBy,
  slicesManagedBy,
} from '#shared/kube/names.ts';
import type { EndpointSlice } from '#shared/kube/types.ts';
import { findRun } from '#test/cluster/faults/scene.ts';
import { type Api, connectApi, type Draft } from '#test/e2e/api.ts';
import { type Observed, observe } from '#test/e2e/observed.ts';
import { httpPort, newWorld, type World } from '#test/e2e/world.ts';
import { clusterCommand } from '#test/support/cluster-command.ts';
import { type ControlPlane, startControlPlane } from '#test/support/control-plane/control-plane.ts';
import { kubeconfigText } from '#test/support/control-plane/kubeconfig.ts';
import { startLocalRun } from '#test/support/local-run.ts';
import { applyAccess, grantRelaysRights, writerConnection } from '#test/support/relay-install.ts';

export const controllers = [
  'endpoints-controller',
  'endpointslice-controller',
  'endpointslice-mirroring-controller',
  'namespace-controller',
  'garbage-collector-controller',
].join();

/** A run of two dozen services at once on a machine that does other things besides. */
const patience = 90_000;

export interface Beside {
  readonly controlPlane: ControlPlane;
  readonly api: Api;
  readonly lines: readonly string[];
  /** A namespace of its own. */
  world(): Promise<World>;
  /** `fleet-endpoints cluster …` against this run; CLUSTER stands for its cluster. */
  command(...args: readonly string[]): Promise<string>;
  /** Ends the hub and all that it knows; the cluster stays. */
  stopHub(): Promise<unknown>;
  /** Another hub, which reads the cluster from nothing. */
  startHub(): Promise<void>;
  stop(): Promise<void>;
}

export async function startBeside(): Promise<Beside> {
  const controlPlane = await startControlPlane({ controllers });
  await applyAccess(controlPlane, { builtIn: false, optIn: true, cleanup: true });
  await grantRelaysRights(controlPlane);
  const kubeconfig = join(dirname(controlPlane.kubeconfig), 'writer.yaml');
  await writeFile(kubeconfig, kubeconfigText(await writerConnection(controlPlane)), { mode: 0o600 });
  const api = connectApi(controlPlane.connection);
  const flags = ['--kubeconfig', kubeconfig, '--mode', 'shadow', '--opt-in', 'active'];
  let run = startLocalRun(flags);
  const stop = async (observed?: Observed): Promise<void> => {
    await observed?.stop();
    await run.stop();
    api.close();
    await controlPlane.stop();
  };
  try {
    const [, consoleUrl = ''] = await run.line(/console at (http\S+)/, 120_000);
    const [, cluster = ''] = await run.line(/^ready: (\S+)/, 120_000);
    let { pid } = await findRun(consoleUrl);
    const nodes = ['node-a', 'node-b'] as const;
    for (const [i, name] of nodes.entries())
      await api.create('Node', '', {
        metadata: { name, labels: { 'topology.kubernetes.io/zone': ['zone-a', 'zone-b'][i] as string } },
      });
    const observed = await observe(api);
    let namespaces = 0;
    return {
      controlPlane,
      api,
      get lines() {
        return run.lines;
      },
      stopHub: () => run.stop(),
      async startHub() {
        run = startLocalRun(flags);
        const [, address = ''] = await run.line(/console at (http\S+)/, 120_000);
        await run.line(/^ready: /, 120_000);
        ({ pid } = await findRun(address));
      },
      async world() {
        const namespace = `opt-in-${++namespaces}`;
        await api.create('Namespace', '', { metadata: { name: namespace } });
        const world = newWorld(api, observed, namespace, nodes);
        return {
          ...world,
          eventually: (assertion, timeoutMs = patience) => observed.eventually(assertion, timeoutMs),
        };
      },
      command: (...args) =>
        clusterCommand(
          pid,
          args.map((a) => (a === 'CLUSTER' ? cluster : a)),
        ),
      stop: () => stop(observed),
    };
  } catch (e) {
    await stop();
    throw e;
  }
}

type Spec = Draft<'Service'>['spec'];
const annotated = (text: string): { readonly [key: string]: string } => ({ [annotationSelector]: text });

/** A Service that opts in. */
export const optedIn = (world: World, name: string, text: string, spec: Spec = {}) =>
  world.service(name, { ports: [httpPort], ...spec } as Spec, { annotations: annotated(text) });

/** A Service with a selector, annotated with it: the rehearsal. */
export const rehearsed = (world: World, name: string, app: string) =>
  world.service(name, { ports: [httpPort], selector: { app } } as Spec, {
    annotations: annotated(`app=${app}`),
  });

/** Resolves when the hub has written a change that was made after all others, twice. */
export async function hubSettled(world: World): Promise<void> {
  for (const round of ['1', '2']) {
    if (round === '1' && !(await world.api.get('Service', world.namespace, 'marker')))
      await optedIn(world, 'marker', 'app=marker');
    const labels = { round: `${round}-${Date.now()}` };
    await world.api.patch('Service', world.namespace, 'marker', { metadata: { labels } });
    await world.eventually(() => {
      const shown = ours(world.slices('marker')).map((s) => s.metadata.labels?.['round']);
      if (!shown.includes(labels.round))
        throw new Error('the hub has not written the change that marks the end');
    });
  }
}

/** `null` removes. */
export const change = (
  { api, namespace }: World,
  name: string,
  what: { readonly spec?: object; readonly annotation?: string | null },
) =>
  api.patch('Service', namespace, name, {
    ...(what.spec && { spec: what.spec }),
    ...(what.annotation !== undefined && {
      metadata: { annotations: { [annotationSelector]: what.annotation } },
    }),
  } as never);

const by = (manager: string) => (slices: readonly EndpointSlice[]) =>
  slices.filter((s) => s.metadata.labels?.[labelSliceManagedBy] === manager);
export const ours = by(optInManagedBy);
export const theirs = by(slicesManagedBy);
export const served = (slices: readonly EndpointSlice[]): readonly string[] =>
  [...new Set(addressesServed(slices))].sort();

export interface Poll {
  readonly looks: number;
  /** Addresses that a check did not find, with the content at that time. */
  readonly gaps: readonly string[];
}

/** Looks at all slices of the service every 50 ms. The function that comes back ends it. */
export function pollUnion(
  { api, namespace }: World,
  service: string,
  addresses: readonly string[],
): () => Promise<Poll> {
  const gaps: string[] = [];
  let [looks, isOver] = [0, false];
  const look = async (): Promise<void> => {
    while (!isOver) {
      const next = new Promise((resolve) => setTimeout(resolve, 50));
      const { items } = await api.list('EndpointSlice', namespace);
      const slices = items.filter((s) => s.metadata.labels?.['kubernetes.io/service-name'] === service);
      const there = served(slices);
      const missing = addresses.filter((a) => !there.includes(a));
      if (missing.length > 0)
        gaps.push(
          `look ${looks}: ${missing.join()} are missing from ${slices.map((s) => s.metadata.name).join()}`,
        );
      looks++;
      await next;
    }
  };
  const ended = look();
  return async () => {
    isOver = true;
    await ended;
    return { looks, gaps };
  };
}
