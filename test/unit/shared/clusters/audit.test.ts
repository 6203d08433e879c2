import { describe, expect, it } from 'vitest';
import { switchesThen } from '#infra/cli/ask/history/switches-then.ts';
import { type AuditRecord, listAudit, recordAudit } from '#shared/clusters/audit.ts';
import type { Mode } from '#shared/clusters/writer/mode.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';

describe('audit records', () => {
  it('audit records are listed in the order of writing, independent of clocks', async () => {
    const table = memoryTable();
    const [early, late] = ['2026-01-02T00:00:00.095Z', '2026-01-02T00:00:00.999Z'];
    const records = [late, early, early].map((at, i) => ({ at, who: 'x', what: `switch ${i}` }));
    for (const record of records) await recordAudit(table, 'c', record);
    expect(await listAudit(table, 'c')).toEqual(records);
  });

  it('an audit record of a switch has the former and the new mode', async () => {
    const table = memoryTable();
    const switched = {
      at: '2026-01-02T00:00:00Z',
      who: 'x',
      what: 'a',
      mode: { from: 'shadow', to: 'active' },
      optIn: { from: 'off', to: 'shadow' },
    } as const;
    await recordAudit(table, 'c', switched);
    expect(await listAudit(table, 'c')).toEqual([switched]);
  });
});

describe('the switches of a cluster at a time', () => {
  const at = (seconds: number): number => Date.parse('2026-01-02T00:00:00Z') + seconds * 1000;
  const switched = (seconds: number, from: Mode, to: Mode): AuditRecord => ({
    ...{ at: new Date(at(seconds)).toISOString(), who: 'x', what: `${from} → ${to}` },
    mode: { from, to },
  });
  const now = (mode: Mode, seconds: number) =>
    ({
      mode,
      optIn: 'off',
      optInSince: 0,
      modeSwitch: { atMs: at(seconds), wasActive: mode === 'paused' },
    }) as never;
  const audits = [
    switched(10, 'shadow', 'active'),
    switched(20, 'active', 'paused'),
    switched(30, 'paused', 'active'),
    switched(40, 'active', 'shadow'),
  ];

  it.each([
    [5, 'shadow', 'shadow', undefined],
    [15, 'active', 'active', 10],
    [25, 'paused', 'active', 20],
    [35, 'active', 'active', 30],
    [45, 'shadow', 'shadow', 40],
  ] as const)(
    '%i s after the beginning the mode is %s, without its pause %s',
    (seconds, mode, unpaused, since) => {
      expect(switchesThen(now('shadow', 40), audits, at(seconds))).toEqual({
        ...{ mode, unpaused, optIn: 'off' },
        sinceMs: since && at(since),
      });
    },
  );

  it('the record of the cluster has the last switch if no audit record does', () => {
    expect(switchesThen(now('paused', 50), [], at(55))).toMatchObject({
      mode: 'paused',
      unpaused: 'active',
      sinceMs: at(50),
    });
    expect(switchesThen(now('shadow', 50), [], at(45))).toMatchObject({
      mode: undefined,
      unpaused: undefined,
      sinceMs: undefined,
    });
  });
});
