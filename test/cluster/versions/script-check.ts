/**
 * The parity script on two control planes of a Kubernetes version: with its own controllers beside shadow
 * mode, and with the hub in their place.
 */
import { compareRuns } from '#test/cluster/parity/comparison.ts';
import { playOurs, playUpstreams } from '#test/cluster/parity/runs.ts';
import { script } from '#test/cluster/parity/script.ts';
import type { Step } from '#test/cluster/parity/step.ts';
import { explanationOf, getsStuck, playable } from './versions.ts';

/** Kube-controller-manager keeps up with this load. The services stay, so both writers take them over too. */
const churn = { services: 20, pods: 10, rate: 20, seconds: 20, clean: false } as const;

interface Options {
  readonly steps: number;
  readonly restSeconds: number;
}

/** The results of the two runs, as cells of the table that the command prints. */
export async function playScript(
  version: string,
  { steps: limit, restSeconds }: Options,
): Promise<readonly [shadow: string, active: string, rest: string]> {
  const steps = playable(version, script.slice(0, limit));
  const say = (who: string) => (line: string) => console.log(`${who} ${line}`);
  const runs = [
    playTheirs(version, steps, say('upstream')),
    playOurs(steps, say('ours    '), restSeconds),
  ] as const;
  // A run that fails leaves the other one to stop its control plane.
  await Promise.allSettled(runs);
  const [theirs, ours] = await Promise.all(runs);
  for (const line of theirs.differing) console.log(`shadow: ${line}`);
  for (const line of ours.written) console.log(`at rest: ${line}`);

  const statements = new Set<string>();
  const left = compareRuns(steps, theirs, ours).flatMap(({ what, lines }) =>
    lines.flatMap((line) => {
      const difference = `${what}: ${line}`;
      const statement = explanationOf(version, difference);
      if (statement) statements.add(statement);
      return statement ? [] : [difference];
    }),
  );
  for (const line of left) console.log(`active: ${line}`);
  return [
    theirs.differing.length === 0
      ? `0 differences, ${steps.length} steps`
      : `FAILED: ${theirs.differing.length} differences`,
    left.length === 0
      ? `alike${statements.size > 0 ? ` but for ${[...statements].sort().join(', ')}` : ''}`
      : `FAILED: ${left.length} differences`,
    ours.written.length === 0 ? `0 writes in ${restSeconds} s` : `FAILED: ${ours.written.join(', ')}`,
  ];
}

/**
 * The endpoints controller of v1.31.0 and v1.31.1 may get stuck until its restart (DF-8). The script is then
 * played from the beginning, twice at most.
 */
async function playTheirs(
  version: string,
  steps: readonly Step[],
  say: (line: string) => void,
  tries = 3,
): Promise<Awaited<ReturnType<typeof playUpstreams>>> {
  try {
    return await playUpstreams(steps, say, churn);
  } catch (error) {
    if (tries === 1 || !getsStuck(version) || !String(error).includes('has not shown')) throw error;
    say(`played again, because its Endpoints are stuck (DF-8): ${String(error)}`);
    return playTheirs(version, steps, say, tries - 1);
  }
}
