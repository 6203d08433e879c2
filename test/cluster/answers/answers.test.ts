/**
 * Thirty endpoint faults that people reported in public, on a real control plane with its own controllers:
 * `explain` without a hub names the cause of each in its first lines, and no other, and is content once the
 * fault is repaired.
 */
import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { afterAll, beforeAll, describe, type ExpectStatic, it } from 'vitest';
import { causeLines } from '#infra/cli/ask/answer-text.ts';
import type { Explanation } from '#infra/cli/ask/explain/explanation.ts';
import { explanationLines } from '#infra/cli/ask/explain-text.ts';
import { explainLive } from '#infra/cli/ask/live/explain-live.ts';
import { liveCluster } from '#infra/cli/ask/live/live-cluster.ts';
import { mcsVersions } from '#shared/clusters/api/mcs-versions.ts';
import { type HttpTransport, httpTransport } from '#shared/clusters/api/transport.ts';
import { type ControlPlane, startControlPlane } from '#test/support/control-plane/control-plane.ts';
import { installMcs } from '#test/support/control-plane/mcs-crds.ts';
import { nodesOfFaults } from './nodes.ts';
import { type Scene, type Step, scene } from './scene.ts';

interface Fault {
  /** Where it was reported. */
  readonly source: string;
  /** What the person saw, and the cause. */
  readonly saw: string;
  readonly cause: string;
  readonly break: readonly Step[];
  /** Patterns that an answer naming the cause matches, and claims that are false. */
  readonly says: readonly string[];
  readonly saysNot: readonly string[];
  /** Every cause that is told, notes apart. */
  readonly causes: readonly string[];
  /** Afterwards the answer is content. Undefined: nothing repairs it. */
  readonly repair?: readonly Step[];
}

const faults = globSync('test/cluster/answers/cases/*/*.json')
  .toSorted()
  .map((file) => {
    const name = basename(file, '.json');
    const text = readFileSync(file, 'utf8').replaceAll('$NS', name);
    return { name, ...(JSON.parse(text) as Fault) };
  });
const stopsControllers = ({ break: steps }: Fault): boolean => steps.some((s) => s.controllers === 'stop');

const controllers = [
  ...['namespace', 'garbage-collector', 'deployment', 'replicaset'].map((c) => `${c}-controller`),
  ...['endpoints', 'endpointslice', 'endpointslice-mirroring'].map((c) => `${c}-controller`),
].join();

let controlPlane: ControlPlane;
let transport: HttpTransport;
beforeAll(async () => {
  controlPlane = await startControlPlane({ controllers });
  await installMcs(controlPlane.connection);
  transport = httpTransport(controlPlane.connection, { timeoutMs: 60_000 });
  await scene(transport, controlPlane, '').carryOut(nodesOfFaults);
});
afterAll(async () => {
  transport?.close();
  await controlPlane?.stop();
});

const ask = (name: string): Promise<Explanation> =>
  explainLive(liveCluster(mcsVersions(transport)), {
    ...{ context: 'test', namespace: name, name: 'web', pod: undefined },
  });
const textsOf = (lines: ReturnType<typeof explanationLines>): readonly string[] =>
  lines.map((line) => (typeof line === 'string' ? line : line.text));

/** What is wrong with the answer. */
function judged({ says, saysNot, causes }: Fault, explanation: Explanation) {
  const text = textsOf(explanationLines(explanation)).join('\n');
  const first = textsOf([
    explanation.summary,
    ...causeLines(explanation.answer?.causes ?? []),
    ...(explanation.unknown ?? []),
  ]).join('\n');
  const told = (explanation.answer?.causes ?? []).filter((c) => c.weight !== 'note').map((c) => c.code);
  return {
    lacks: says.filter((pattern) => !new RegExp(pattern, 'i').test(first)),
    claims: saysNot.filter((pattern) => new RegExp(pattern, 'i').test(text)),
    causes: [...new Set(told)].sort(),
    expected: [...causes].sort(),
  };
}

async function broken(fault: Fault & { readonly name: string }): Promise<Scene> {
  await scene(transport, controlPlane, '').carryOut([
    { create: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: fault.name } } },
  ]);
  const of = scene(transport, controlPlane, fault.name);
  await of.carryOut(fault.break);
  return of;
}

/** Tests at the same time have an `expect` of their own. */
async function names(expect: ExpectStatic, fault: Fault & { readonly name: string }): Promise<void> {
  await expect
    .poll(async () => judged(fault, await ask(fault.name)), { timeout: 60_000, interval: 500 })
    .toMatchObject({ lacks: [], claims: [], causes: [...fault.causes].sort() });
}

async function isContent(
  expect: ExpectStatic,
  fault: Fault & { readonly name: string },
  of: Scene,
): Promise<void> {
  if (!fault.repair) return;
  await of.carryOut(fault.repair);
  await expect
    .poll(
      async () => {
        const { answer, summary, health } = await ask(fault.name);
        return {
          health,
          causes: answer?.causes.filter((c) => c.weight !== 'note'),
          summary,
        };
      },
      { timeout: 60_000, interval: 500 },
    )
    .toMatchObject({ health: 'good', causes: [] });
}

describe('explain without a hub', () => {
  describe.concurrent('while the controllers run', () => {
    it.for(faults.filter((f) => !stopsControllers(f)))(
      '$name ($source): $cause',
      async (fault, { expect }) => {
        const of = await broken(fault);
        await names(expect, fault);
        await isContent(expect, fault, of);
      },
    );
  });

  it.for(faults.filter(stopsControllers))('$name ($source): $cause', async (fault, { expect }) => {
    const of = await broken(fault);
    await names(expect, fault);
    await isContent(expect, fault, of);
  });
});
