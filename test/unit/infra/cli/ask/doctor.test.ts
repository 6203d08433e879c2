/** `fleet-endpoints doctor`, on a table in memory. */
import { describe, expect, it } from 'vitest';
import { findingLines } from '#infra/cli/account/account-check.ts';
import type { Finding } from '#infra/cli/account/account-finding.ts';
import { type DoctorDeps, examine, pageOf } from '#infra/cli/ask/doctor.ts';
import { HubError } from '#infra/cli/hub/hub-errors.ts';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { registerCluster } from '#shared/clusters/registration.ts';
import { markFirstListApplied } from '#shared/clusters/relay/first-lists.ts';
import { type RelayHeartbeat, recordHeartbeat } from '#shared/clusters/relay/relay-state.ts';
import { switchMode } from '#shared/clusters/writer/mode-switch.ts';
import { recordShifts } from '#shared/clusters/zones-away.ts';
import { kinds } from '#shared/kube/types.ts';
import { versionOf } from '#shared/store/version.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';

const now = Date.parse('2026-01-02T00:00:00Z');
const queues = { events: 'e', syncs: 's', parked: 'p', quarantine: 'q' };

interface Given {
  readonly secondsSilent?: number;
  readonly lists?: boolean;
  readonly queueLagSeconds?: number;
  readonly clockAheadSeconds?: number;
  readonly removals?: RelayHeartbeat['removals'];
}

async function world() {
  const table = memoryTable();
  async function cluster(
    id: string,
    { secondsSilent, lists = true, queueLagSeconds = 0, clockAheadSeconds = 0, removals }: Given = {},
  ): Promise<void> {
    await registerCluster(table, { id, mode: 'active', settings: {}, queues }, now);
    const meta = (await readCluster(table, id)) as ClusterRecord;
    if (secondsSilent === undefined) return;
    await recordHeartbeat(table, meta, {
      heartbeatAtMs: now - secondsSilent * 1000,
      queueLagSeconds,
      clockAheadSeconds,
      readUpTo: {},
      kubernetesVersion: 'v1.37.2',
      removals,
    });
    if (lists) for (const kind of kinds) await markFirstListApplied(table, meta, kind, versionOf(1, '1'));
  }
  const examined = (changes: Partial<DoctorDeps> = {}): Promise<readonly Finding[]> =>
    examine({
      hub: { name: 'table T', table, now: () => now },
      identity: async () => 'arn:x',
      now: () => now,
      env: {},
      program: 'p 1',
      ...changes,
    });
  return { table, cluster, examined };
}

const textOf = (findings: readonly Finding[]): string => findings.flatMap(findingLines).join('\n');

describe('doctor', () => {
  it('a healthy hub is a page without a wrong finding, and healthy clusters share a line', async () => {
    const { cluster, examined } = await world();
    await cluster('a', { secondsSilent: 10 });
    await cluster('b', { secondsSilent: 20 });
    expect(textOf(pageOf(await examined()))).toBe(
      [
        'ok      this machine: program: p 1',
        'ok      this machine: credentials: arn:x',
        'ok      hub: table: table T, 2 clusters',
        "ok      this machine: clock: within 0 s of the hub's",
        'ok      clusters: without a finding: 2 of 2',
      ].join('\n'),
    );
  });

  it('the preStop that a cluster needs is what its relay has measured, and nothing without a measurement', async () => {
    const { cluster, examined } = await world();
    await cluster('a', { secondsSilent: 10, removals: { count: 12_345, withinMs: 1_500 } });
    await cluster('b', { secondsSilent: 20 });
    const text = textOf(pageOf(await examined()));
    expect(text).toContain(
      'ok      a: preStop: 2 s at least, and the time of proxies and load balancers: of 12,345 deleted pods the slices showed 99.9 % within 1.5 s',
    );
    expect(text).not.toContain('b: preStop');
  });

  it('each cluster has its own reason and its next step: no relay, a silent relay, missing lists; one that is paused may be silent', async () => {
    const { table, cluster, examined } = await world();
    await cluster('new', {});
    await cluster('silent', { secondsSilent: 600 });
    await cluster('listing', { secondsSilent: 5, lists: false });
    await cluster('moved', { secondsSilent: 600 });
    await switchMode(table, 'moved', 'paused', now);
    const text = textOf(pageOf(await examined()));
    expect(text).toMatch(
      /^WRONG {3}new: relay: no heartbeat yet\n +apply its manifest \(relay manifest new\)/m,
    );
    expect(text).toMatch(
      /^WRONG {3}silent: relay: last heartbeat 600 s ago\n +docs\/operate\/runbook\.md#relaysilent/m,
    );
    expect(text).toMatch(
      /^WRONG {3}listing: first lists: missing\n +docs\/operate\/runbook\.md#firstlistsmissing/m,
    );
    expect(text).toMatch(/^ok {6}clusters: without a finding: 1 of 4$/m);
  });

  it('a backlog of hours does not look like a living relay, and a clock that is minutes off is named', async () => {
    const { cluster, examined } = await world();
    await cluster('late', { secondsSilent: 7_205, queueLagSeconds: 7_200 });
    await cluster('skewed', { secondsSilent: 5, clockAheadSeconds: -90 });
    await cluster('usual', { secondsSilent: 5, queueLagSeconds: 1, clockAheadSeconds: 1 });
    const text = textOf(pageOf(await examined()));
    expect(text).toMatch(
      /^WRONG {3}late: relay: last heartbeat 7205 s ago, waited 7200 s in the events queue\n +docs\/operate\/runbook\.md#relaysilent/m,
    );
    expect(text).toMatch(
      /^WRONG {3}skewed: clock: the clock of the relay's node is 90 s behind the hub's\n +synchronise the clock of that node/m,
    );
    expect(text).toMatch(/^ok {6}clusters: without a finding: 1 of 3$/m);
  });

  it('zones that traffic is away from are in a line, and shifts that cannot be read are named', async () => {
    const { table, cluster, examined } = await world();
    await cluster('a', { secondsSilent: 5 });
    await cluster('b', { secondsSilent: 5 });
    const by = 'ARC shift zs-1';
    const away = { zone: 'eu-1a', id: 'eu-az2', sinceMs: now - 60_000, untilMs: now + 3_600_000, by };
    const denied = { state: 'denied', sinceMs: now } as const;
    await recordShifts(table, 'a', { byShifts: [away], reading: { state: 'read', sinceMs: now } });
    await recordShifts(table, 'b', { byShifts: [], reading: denied });
    const text = textOf(pageOf(await examined()));
    expect(text).toContain(
      'ok      hub: zones: traffic is away from a eu-1a (eu-az2) since 2026-01-01T23:59:00Z until 2026-01-02T01:00:00Z, by ARC shift zs-1',
    );
    expect(text).toMatch(/^WRONG {3}b: zonal shift: the hub may not read .*\n +give api\.auth\.roleArn/m);
    const silent = { state: 'unreachable', sinceMs: now - 900_000 } as const;
    await recordShifts(table, 'b', { byShifts: [], reading: silent });
    expect(textOf(await examined())).toMatch(
      /^WRONG {3}b: zonal shift: ARC has not answered since 2026-01-01T23:45:00Z\n +docs\/operate\/runbook\.md#shiftsunread/m,
    );
  });

  it('refused credentials, an unreachable table and a wrong clock are named with what to set', async () => {
    const { cluster, examined } = await world();
    await cluster('a', { secondsSilent: 10 });
    const expired = Object.assign(new Error('token expired'), { name: 'ExpiredToken' });
    const refused = async (): Promise<never> => Promise.reject(expired);
    expect(textOf(await examined({ identity: refused, env: { AWS_PROFILE: 'ops' } }))).toMatch(
      /WRONG {3}this machine: credentials: AWS refused .*profile ops.*\(token expired\): sign in again/,
    );
    expect(textOf(await examined({ now: () => now + 300_000 }))).toMatch(
      /WRONG {3}this machine: clock: 300 s ahead of the hub's/,
    );
    const table = {
      ...memoryTable(),
      query: refused,
      get: refused,
      getMany: refused,
    } as unknown as DoctorDeps['hub']['table'];
    const findings = await examined({ hub: { name: 'table T', table, now: () => now } });
    expect(findings.map(({ subject, question, verdict }) => `${subject} ${question} ${verdict}`)).toEqual([
      'this machine program fine',
      'this machine credentials fine',
      'hub table wrong',
    ]);
  });

  it('the error of a hub, which has its advice already, is printed once', async () => {
    const { examined } = await world();
    const away = async (): Promise<never> =>
      Promise.reject(new HubError('table T: no answer (ENOTFOUND x): check the network'));
    const table = {
      ...memoryTable(),
      query: away,
      get: away,
      getMany: away,
    } as unknown as DoctorDeps['hub']['table'];
    const text = textOf(await examined({ hub: { name: 'table T', table, now: () => now } }));
    expect(text.match(/check the network/g)).toHaveLength(1);
  });

  it('a hub without clusters, and a fleet with many findings, stay on one page', async () => {
    const { cluster, examined } = await world();
    expect(textOf(await examined())).toMatch(/WRONG {3}hub: table: table T, 0 clusters\n.*clusters\.yaml/);
    for (let i = 0; i < 50; i++) await cluster(`c-${i}`, {});
    const page = pageOf(await examined());
    expect(page).toHaveLength(4 + 40 + 1);
    expect(page.at(-1)).toMatchObject({ found: '10 more', verdict: 'wrong' });
  });
});
