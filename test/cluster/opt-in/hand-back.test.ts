/**
 * `fleet-endpoints hand-back` while the hub is away, on a real control plane with its own controllers: there
 * and back, no address is missing at any time.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type Beside, optedIn, ours, pollUnion, served, startBeside, theirs } from './beside.ts';

let beside: Beside;
beforeAll(async () => {
  beside = await startBeside();
});
let hasFailed = false;
beforeEach(({ onTestFailed }) =>
  onTestFailed(() => {
    hasFailed = true;
  }),
);
afterAll(async () => {
  if (hasFailed) console.log(beside?.lines.slice(-60).join('\n'));
  await beside?.stop();
});

const addressOf = (i: number): string => `10.1.${1 + Math.floor(i / 100)}.${1 + (i % 100)}`;

async function handBack(...args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [
    'infra/cli/command/fleet-endpoints.main.ts',
    'hand-back',
    '--kubeconfig',
    beside.controlPlane.kubeconfig,
    '--yes',
    ...args,
  ]);
  return stdout;
}

it('fifty pods there and back: no address is missing, and each side ends with one writer', {
  timeout: 400_000,
}, async () => {
  const world = await beside.world();
  const addresses: string[] = [];
  for (let i = 0; i < 50; i++) {
    await world.pod(`web-${i}`, { labels: { app: 'web' }, ips: [addressOf(i)] });
    addresses.push(addressOf(i));
  }
  addresses.sort();
  await optedIn(world, 'web', 'app=web');
  await optedIn(world, 'invalid', 'app');
  await world.eventually(() => expect(served(ours(world.slices('web')))).toEqual(addresses));
  await beside.stopHub();

  // A pod that goes while the hub is away stays in its slices, and must not keep them.
  await world.removePod('web-49');
  const left = addresses.filter((address) => address !== addressOf(49));
  const there = pollUnion(world, 'web', left);
  await expect(handBack('-n', world.namespace)).rejects.toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/web is handed back/),
  });
  await world.eventually(() => {
    expect(served(theirs(world.slices('web')))).toEqual(left);
    expect(ours(world.slices('web'))).toEqual([]);
  });
  expect((await there()).gaps).toEqual([]);

  await beside.startHub();
  expect(ours(world.slices('web'))).toEqual([]);
  const back = pollUnion(world, 'web', left);
  expect(await handBack('svc/web', '-n', world.namespace, '--undo')).toMatch(/web has no selector any more/);
  await world.eventually(() => {
    expect(served(ours(world.slices('web')))).toEqual(left);
    expect(theirs(world.slices('web'))).toEqual([]);
  });
  expect((await back()).gaps).toEqual([]);
});
