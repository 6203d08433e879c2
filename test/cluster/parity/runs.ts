import { setTimeout as sleep } from 'node:timers/promises';
import { connectApi } from '#test/e2e/api.ts';
import { observe } from '#test/e2e/observed.ts';
import { type ChurnLoad, type ChurnResult, runChurn } from '#test/support/control-plane/churn.ts';
import { type ControlPlane, startControlPlane } from '#test/support/control-plane/control-plane.ts';
import { type LocalRun, startLocalRun } from '#test/support/local-run.ts';
import { newHands } from './hands.ts';
import { namedApi } from './names.ts';
import { differencesOf, pendingOf } from './pending.ts';
import { writesAtRest } from './rest.ts';
import { openThroughout } from './script.ts';
import { cutService, settling } from './settling.ts';
import { anyService, type Snapshot, snapshot, type Versions } from './snapshot.ts';
import type { Step } from './step.ts';
import { type TakeOver, takeOver } from './take-over.ts';

/** The result of the script by one of the two writers. */
export interface Run {
  /** After each step. */
  readonly snapshots: readonly Snapshot[];
  /** Result of the other writer taking over this one's objects. */
  readonly takeOver: TakeOver;
}

const others = 'namespace-controller,garbage-collector-controller';
const both = `endpoints-controller,endpointslice-controller,${others}`;
// Its own limit of 20 requests a second would be most of what is waited for.
const unlimited = ['--kube-api-qps=1000', '--kube-api-burst=1000'];
const patience = 120_000;

type Say = (line: string) => void;

/**
 * With `churn`, a run in shadow mode compares during the script and this load. `differing` has each step in
 * which a difference was confirmed, the differences at the end, and each service that was not compared.
 */
export async function playUpstreams(
  steps: readonly Step[],
  say: Say,
  churn?: ChurnLoad,
): Promise<Run & { readonly differing: readonly string[] }> {
  const controlPlane = await startControlPlane({ controllers: both, controllerManagerFlags: unlimited });
  let shadow: LocalRun | undefined;
  try {
    if (churn) shadow = startLocalRun(['--kubeconfig', controlPlane.kubeconfig, '--mode', 'shadow']);
    await shadow?.line(/^ready/, patience);
    const differedIn = shadow && printedDifferences(shadow);
    const { snapshots, api } = await play(steps, controlPlane, async () => [], {
      say,
      after: differedIn?.after,
    });
    if (churn) say(flipsText(await runChurn(controlPlane.binary, controlPlane.kubeconfig, churn)));
    const differing =
      shadow && differedIn ? [...(await settledDifferences(shadow)), ...differedIn.end()] : [];
    await shadow?.stop();
    await controlPlane.controllerManager.stop('SIGTERM');
    await controlPlane.controllerManager.start([`--controllers=${others}`]);
    const run = startLocalRun([
      '--kubeconfig',
      controlPlane.kubeconfig,
      '--mode',
      'active',
      '--controllers-off',
    ]);
    try {
      const over = await takeOver(api, async () => {
        await run.line(/^ready/, patience);
        return { pending: await pendingOf(run) };
      });
      return { snapshots, takeOver: over, differing };
    } finally {
      await run.stop();
      api.close();
    }
  } finally {
    await shadow?.stop();
    await controlPlane.stop();
  }
}

/** A run prints a difference ten seconds after its cause, or somewhat later on a busy machine. */
const toldWithinMs = 40_000;

/**
 * Collects the differences that the run prints, with the step in which it does. The difference of a
 * deliberate step, as an edit that upstream leaves alone (reference/parity.md), is true and not collected. The
 * service whose slice each step deletes may be found without it twice.
 */
function printedDifferences(shadow: LocalRun) {
  const found: string[] = [];
  const edited = new Map<string, number>();
  let seen = 0;
  const look = (when: string): void => {
    for (; seen < shadow.lines.length; seen++) {
      const service = shadow.lines[seen]?.match(/^difference: \S+ (\S+)/)?.[1];
      if (
        service === undefined ||
        service === cutService ||
        Date.now() - (edited.get(service) ?? 0) < toldWithinMs
      )
        continue;
      const rest = shadow.lines.slice(seen + 1);
      const end = rest.findIndex((line) => !line.startsWith('  '));
      found.push(`${when}: ${[service, ...rest.slice(0, end < 0 ? undefined : end)].join('\n  ')}`);
    }
  };
  return {
    after: ({ what, deliberate }: Step): void => {
      if (deliberate) edited.set(deliberate.of.split(' ').at(-1) ?? '', Date.now());
      look(what);
    },
    end: (): readonly string[] => {
      look('after the script');
      return found;
    },
  };
}

/** Waits until the run has compared every change. */
async function settledDifferences(shadow: LocalRun): Promise<readonly string[]> {
  const pending = await pendingOf(shadow);
  for (const end = Date.now() + patience; Date.now() < end && (await pending(true)).length > 0; )
    await sleep(500);
  return [
    ...(await pending(true)).map((service) => `${service}: not compared`),
    ...(await differencesOf(shadow)),
  ];
}

const flipsText = ({ flips, services, pods }: ChurnResult): string =>
  `churn: ${flips} flips of readiness, ${services} services, ${pods} pods`;

/** `written` has the requests of the writer in `restSeconds` after the script. */
export async function playOurs(
  steps: readonly Step[],
  say: Say,
  restSeconds = 0,
): Promise<Run & { readonly written: readonly string[] }> {
  const controlPlane = await startControlPlane({ controllers: others });
  let run: LocalRun | undefined;
  try {
    run = startLocalRun(['--kubeconfig', controlPlane.kubeconfig, '--mode', 'active', '--controllers-off']);
    await run.line(/^ready/, patience);
    const { snapshots, api } = await play(steps, controlPlane, await pendingOf(run), { say });
    const written = await writesAtRest(controlPlane.connection, restSeconds);
    await run.stop();
    await controlPlane.controllerManager.stop('SIGTERM');
    const over = await takeOver(api, async () => {
      await controlPlane.controllerManager.start([`--controllers=${both}`, ...unlimited]);
      return { pending: async () => [] };
    });
    api.close();
    return { snapshots, takeOver: over, written };
  } finally {
    await run?.stop();
    await controlPlane.stop();
  }
}

async function play(
  steps: readonly Step[],
  { connection }: ControlPlane,
  pending: (failing: boolean) => Promise<readonly string[]>,
  { say, after = () => {} }: { readonly say: Say; readonly after?: ((step: Step) => void) | undefined },
): Promise<{ readonly snapshots: readonly Snapshot[]; readonly api: ReturnType<typeof connectApi> }> {
  const plain = connectApi(connection);
  const { api, names } = namedApi(plain);
  const observed = await observe(plain);
  const namespace = 'parity';
  let failing = false;
  try {
    for (const [i, name] of ['node-a', 'node-b'].entries()) {
      await api.create('Node', '', {
        metadata: { name, labels: { 'topology.kubernetes.io/zone': ['zone-a', 'zone-b'][i] as string } },
        status: { allocatable: { cpu: '4' }, conditions: [{ type: 'Ready', status: 'True' }] },
      });
    }
    await api.create('Namespace', '', { metadata: { name: namespace } });
    const settled = await settling(plain, observed, () => pending(failing));
    await settled.outputs();
    const hands = newHands(api, observed, namespace);
    const snapshots: Snapshot[] = [];
    let before: Versions = new Map();
    for (const [i, step] of steps.entries()) {
      failing = step.failing ?? false;
      const begun = Date.now();
      const h = hands(i);
      try {
        await step.play(h);
        await observed.eventually(async () => {
          if (step.until && !(await step.until(h))) throw new Error('its effect has not shown');
        }, patience);
        const outputs = await settled.outputs();
        const open = {
          ...openThroughout,
          ...step.open,
          ...(step.several && { [anyService]: ['times'] as const }),
        };
        snapshots.push(snapshot(outputs, before, names, open));
        before = new Map(
          [...outputs.endpoints, ...outputs.slices].map(({ metadata }) => [
            metadata.uid,
            metadata.resourceVersion,
          ]),
        );
      } catch (e) {
        throw new Error(`step ${i}, ${step.what}: ${(e as Error).message}`, { cause: e });
      }
      after(step);
      say(`${String(i).padStart(4)} ${step.what} (${Date.now() - begun} ms)`);
    }
    return { snapshots, api: plain };
  } finally {
    await observed.stop();
  }
}
