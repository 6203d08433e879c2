/** Lists, checks and the console say of a Service what `explain` says: nothing is fine that cannot be reached. */
import { afterEach, expect, it, vi } from 'vitest';
import { examine } from '#infra/cli/ask/doctor.ts';
import { explain } from '#infra/cli/ask/explain-service.ts';
import { listOfClusters } from '#infra/cli/ask/lists/cluster-list.ts';
import { reachCounts } from '#infra/cli/ask/lists/reach-counts.ts';
import { serviceRows } from '#infra/cli/ask/lists/service-rows.ts';
import { checkOptIn } from '#infra/cli/ask/opt-in/opt-in-check.ts';
import type { Hub } from '#infra/cli/hub/connect-hub.ts';
import { fleetRows } from '#infra/console/fleet-rows.ts';
import { verdictOn } from '#infra/console/fleet-verdict.ts';
import type { MetricsSource } from '#infra/console/metrics-source.ts';
import { aPod, aService, smallCluster } from '#test/support/small-cluster.ts';

afterEach(() => vi.restoreAllMocks());

/** Its pod is ready, and no container has the port. Everything is written, and nothing can be reached. */
const ports = [{ name: 'http', port: 80, targetPort: 'web', protocol: 'TCP' }];

async function broken() {
  const { world, pass } = await smallCluster([aService({ ports }), aService({}, 'well'), aPod(0)]);
  await pass(20);
  await world.sendHeartbeat();
  await pass(5);
  const { table } = world;
  const asked = {
    hub: { name: 'T', table, now: () => world.now },
    ...{ identity: undefined, now: () => world.now, env: {}, program: 'p' },
  };
  const metrics = { recent: async () => new Map() } as unknown as MetricsSource;
  const fleet = async () =>
    verdictOn(await fleetRows(table, metrics, reachCounts(4), world.now), (seconds) => `${seconds} s`);
  return { world, pass, table, fleet, doctor: () => examine(asked) };
}

it('a Service that cannot be reached is named by lists, doctor, opt-in check and the console', async () => {
  const { world, table, fleet, doctor } = await broken();
  const [svc, well] = await serviceRows(table, 'c', world.now);
  expect(svc?.health).toBe('bad');
  expect(svc?.data).toMatchObject({ reach: 'Unreachable', selected: 1, ready: 0, state: 'Written' });
  expect(well?.data).toMatchObject({ reach: 'Reachable', selected: 1, ready: 1 });
  const { summary } = await explain(table, { cluster: 'c', namespace: 'default', name: 'svc' }, world.now);
  expect(svc?.data.message).toBe(summary);

  const services = (await doctor()).find(({ question }) => question === 'services');
  expect(services).toMatchObject({ verdict: 'wrong', found: '1 of 2 Services cannot be reached' });
  expect(await fleet()).toMatchObject({
    state: 'bad',
    problems: [{ text: '1 service that cannot be reached', filter: 'cannot be reached' }],
  });

  const check = await checkOptIn(
    { table, now: () => world.now, connectionsFile: undefined },
    { cluster: 'c', namespace: 'default', name: 'svc' },
  );
  expect(check.findings.find(({ code }) => code === 'State')).toMatchObject({
    ...{ verdict: 'applies', message: summary },
  });

  const log = vi.spyOn(console, 'log').mockReturnValue();
  const hub = { table, now: () => world.now } as unknown as Hub;
  await listOfClusters(hub, { format: 'json', color: 'never', isLocalTime: false })();
  expect(JSON.parse(log.mock.calls.flat().join('\n'))).toMatchObject([
    { id: 'c', unreachable: 1, notKnown: null },
  ]);
});

it('after a relay has fallen silent nothing is fine, and the time is named of which the answer is', async () => {
  const { world, pass, table, fleet, doctor } = await broken();
  await pass(600);
  const doubt = /as of .* \(10 min ago\): the relay is silent since/;
  const rows = await serviceRows(table, 'c', world.now);
  expect(rows.map(({ health }) => health)).toEqual(['bad', 'warning']);
  for (const { data } of rows) expect(data.message).toMatch(doubt);
  expect((await fleet()).problems[0]?.text).toMatch(doubt);
  expect((await doctor()).find(({ question }) => question === 'services')?.found).toMatch(doubt);
});

it('counts are made in turn, the oldest first, and at most once a minute', async () => {
  const { world, table } = await broken();
  const query = vi.spyOn(table, 'query');
  const counts = reachCounts(1);
  expect((await counts(table, ['c', 'd'], world.now)).get('c')).toMatchObject({
    services: 2,
    unreachable: 1,
  });
  const first = query.mock.calls.length;
  expect([...(await counts(table, ['c', 'd'], world.now + 1_000)).keys()]).toEqual(['c', 'd']);
  const both = query.mock.calls.length;
  await counts(table, ['c', 'd'], world.now + 2_000);
  expect([first > 0, query.mock.calls.length - both]).toEqual([true, 0]);
});
