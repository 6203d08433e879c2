import { expect, it } from 'vitest';
import { jsonLog } from '#shared/telemetry/log.ts';

function recorded() {
  const lines: Record<string, unknown>[] = [];
  return {
    lines,
    log: jsonLog(
      (line) => lines.push(JSON.parse(line)),
      () => 0,
      { part: 'sync' },
    ),
  };
}

it('writes a line of JSON with time, level, message and fields', () => {
  const { lines, log } = recorded();
  log.info('service synced', { service: 'web', writes: 2 });
  expect(lines).toEqual([
    {
      time: '1970-01-01T00:00:00.000Z',
      level: 'info',
      message: 'service synced',
      part: 'sync',
      service: 'web',
      writes: 2,
    },
  ]);
});

it('a child adds its fields to those of its parent and leaves the parent as it was', () => {
  const { lines, log } = recorded();
  log.with({ cluster: 'a' }).with({ ns: 'x' }).warn('circuit open');
  log.error('failed');
  expect(lines).toMatchObject([
    { level: 'warn', part: 'sync', cluster: 'a', ns: 'x' },
    { level: 'error', part: 'sync' },
  ]);
  expect(lines[1]).not.toHaveProperty('cluster');
});

it('writes errors with their causes, and numbers of any size', () => {
  const { lines, log } = recorded();
  const cause = Object.assign(new TypeError('inner'), { status: 503 });
  log.error('failed', { error: new Error('outer', { cause }), size: 2n ** 64n });
  expect(lines[0]).toMatchObject({
    size: '18446744073709551616',
    error: {
      name: 'Error',
      message: 'outer',
      stack: expect.stringContaining('log.test.ts'),
      cause: { name: 'TypeError', message: 'inner', status: 503 },
    },
  });
});
