import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { invocations } from '#shared/telemetry/invocation.ts';
import { jsonLog } from '#shared/telemetry/log.ts';

function recorded() {
  const lines: Record<string, unknown>[] = [];
  const invocation = invocations();
  const log = jsonLog(
    (line) => lines.push(JSON.parse(line)),
    () => 0,
    { stage: 'sync' },
    invocation.fields,
  );
  return { lines, invocation, log };
}

it('each line names the invocation that it was written in, though several run in one process, and the first is its cold start', async () => {
  const { lines, invocation, log } = recorded();
  const work = (awsRequestId: string) =>
    invocation.run({ awsRequestId }, async () => {
      log.info('begun');
      await turn();
      log.with({ cluster: 'c' }).info('ended');
    });
  await Promise.all([work('a'), work('b')]);
  expect(lines.map(({ message, requestId, coldStart }) => [message, requestId, coldStart])).toEqual([
    ['begun', 'a', true],
    ['begun', 'b', false],
    ['ended', 'a', true],
    ['ended', 'b', false],
  ]);
  expect(lines.at(-1)).toMatchObject({ stage: 'sync', cluster: 'c' });
});

it('a line outside of any invocation has neither', () => {
  const { lines, log } = recorded();
  log.info('module loaded');
  expect(lines).toEqual([
    { time: '1970-01-01T00:00:00.000Z', level: 'info', message: 'module loaded', stage: 'sync' },
  ]);
});
