/**
 * The answers of `explain`, `history` and `cluster list` as data, against the schemas in the package, and as
 * lines for people.
 */
import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, it } from 'vitest';
import { explainService } from '#infra/cli/ask/explain/explain.ts';
import { serviceStates } from '#infra/cli/ask/explain/explanation.ts';
import { explanationLines } from '#infra/cli/ask/explain-text.ts';
import { explanationData } from '#infra/cli/ask/explanation-data.ts';
import { addressesThen, notKnown } from '#infra/cli/ask/history/then.ts';
import { addressesData, historyData, runData } from '#infra/cli/ask/history-data.ts';
import { linesAsData, rendered } from '#infra/cli/terminal/print-answer.ts';
import type { HistoryRecord } from '#shared/controllers/history/history-record.ts';
import { reasons } from '#shared/controllers/verdicts/verdict.ts';
import { annotationSelector } from '#shared/kube/names.ts';
import type { Pod } from '#shared/kube/types.ts';
import { clusterRecord, input } from '#test/unit/infra/cli/ask/explain/fixtures.ts';
import { pod, service } from '#test/unit/shared/controllers/slices/fixtures.ts';

const ajv = new Ajv2020({
  formats: { 'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/ },
  allowUnionTypes: true,
});
const readSchema = (name: string) =>
  JSON.parse(readFileSync(`docs/reference/schemas/${name}.schema.json`, 'utf8'));
function check(name: string, data: unknown): void {
  const validate = ajv.getSchema(name) ?? ajv.addSchema(readSchema(name), name).getSchema(name);
  validate?.(JSON.parse(JSON.stringify(data)));
  expect(validate?.errors).toBeNull();
}

const notReady = (index: number): Pod => {
  const ready = pod(index);
  const status = {
    ...ready.status,
    conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: '2026-03-01T09:00:00Z' }],
  };
  return { ...ready, status };
};
const terminating = (index: number): Pod => {
  const { metadata, ...rest } = pod(index);
  const ending = { deletionTimestamp: '2026-03-01T10:00:30Z', deletionGracePeriodSeconds: 30 };
  return { ...rest, metadata: { ...metadata, ...ending } };
};

const textOf = (...given: Parameters<typeof explanationLines>): string =>
  explanationLines(...given)
    .map((line) => (typeof line === 'string' ? line : line.text))
    .join('\n');

it.each([
  ['ready, not ready and terminating pods', input({ pods: [pod(1), notReady(2), terminating(3)] })],
  ['a deleted Service', input({ service: undefined })],
  ['a Service in shadow mode', input({ cluster: clusterRecord({ mode: 'shadow' }) })],
  ['a Service without a selector', input({ service: service({ selector: undefined }) })],
  [
    'a comparison that differs',
    input({
      cluster: clusterRecord({ mode: 'shadow' }),
      difference: { text: '["x"]', sinceMs: 1, confirmed: true },
    }),
  ],
])('the explanation of %s follows its schema', (_, given) => {
  check('explanation', explanationData(given, explainService(given)));
});

it('the explanation as data has each pod with its state and reason', () => {
  const given = input({ pods: [pod(1), notReady(2), terminating(3)] });
  const { pods, state } = explanationData(given, explainService(given));
  const slices = pods.map(({ slices: [slice] }) => [
    slice?.ready,
    slice?.serving,
    slice?.terminating,
    slice?.reason,
    slice?.since,
  ]);
  expect(state).toBe('Written');
  expect(slices[1]).toEqual([false, false, false, 'NotReady', '2026-03-01T09:00:00Z']);
  expect(slices[2]).toEqual([false, true, true, 'Terminating', '2026-03-01T10:00:00Z']);
  expect(pods.map((p) => p.ready)).toEqual([true, false, false]);
  expect(pods[2]?.endpoints).toMatchObject({ listed: false, reason: 'Terminating', serving: null });
});

it('a Service that opts in has no writer while the switch of its cluster is off', () => {
  const { selector: _, ...spec } = service().spec ?? {};
  const optsIn = {
    ...service(),
    spec,
    metadata: { ...service().metadata, annotations: { [annotationSelector]: 'app=a' } },
  };
  const explained = (optIn: 'off' | 'active') =>
    explainService(input({ service: optsIn, cluster: clusterRecord({ mode: 'shadow', optIn }) })).state;
  expect([explained('off'), explained('active')]).toEqual(['NoWriter', 'OutOfDate']);
});

const record: HistoryRecord = {
  ...{
    atMs: 1_000,
    generation: 3,
    seenMs: 900,
    dueMs: 950,
    acceptedMs: 1_100,
    endedMs: 1_150,
    untilMs: 1_000,
    times: 1,
  },
  ...{
    writes: { endpoints: 1, slices: 1 },
    endings: { slices: { kind: 'failed', text: 'timeout' } },
    notes: ['a note'],
    more: 0,
  },
  changes: [
    {
      ...{ pod: 'web-1', reason: 'NotReady', why: 'its Ready condition is False' },
      moves: [
        { where: 'Endpoints', address: '10.0.0.1', from: 'ready', to: 'not ready' },
        { where: 'IPv4', address: '10.0.0.1', from: 'ready', to: 'not ready', detail: 'zone a → b' },
      ],
    },
  ],
};
const key = { cluster: 'a', namespace: 'shop', name: 'web' };

it('the history as data follows its schema, with a reason for each change', () => {
  const data = historyData(key, { records: [record], remarks: ['a remark'] }, {});
  check('history', data);
  check('run', data.runs[0]);
  expect(data.runs[0]).toMatchObject({
    result: 'Failed',
    messages: ['timeout', 'a note'],
    time: '1970-01-01T00:00:01.100Z',
  });
  expect(data.runs[0]?.changes.map((c) => [c.place, c.from, c.to, c.reason])).toEqual([
    ['Endpoints', 'ready', 'not ready', 'NotReady'],
    ['IPv4', 'ready', 'not ready', 'NotReady'],
  ]);
  expect(runData(record, { address: '10.0.0.9' }).changes).toEqual([]);
});

it('the addresses at a time follow their schema, whether they are known or not', () => {
  check('addresses', addressesData(key, addressesThen([record], new Map(), 2_000)));
  check('addresses', addressesData(key, notKnown(2_000, 'the cluster was in shadow mode')));
});

it('every code of a state and of a reason is in the schema', () => {
  const { properties } = readSchema('explanation');
  expect(properties.state.enum).toEqual([...serviceStates, null]);
  expect(properties.pods.items.properties.endpoints.properties.reason.enum).toEqual(reasons);
});

it('200 pods that are not ready for one reason take one screen, and the state comes first', () => {
  const pods = [pod(1), ...Array.from({ length: 200 }, (_, i) => notReady(i + 2))];
  const given = input({ pods });
  const lines = textOf(explainService(given)).split('\n');
  expect(lines[0]).toMatch(/^a ns\/foo: Partly reachable: 1 of 201 pods can be reached/);
  expect(lines[1]).toMatch(
    /^ {2}200 pods \(pod0002, pod0003, pod0004 and 197 more\): its Ready condition is False/,
  );
  const from = lines.indexOf('Not ready (200)');
  expect(lines[from + 1]).toBe(
    '  Endpoints and IPv4 slices: not ready, its Ready condition is False [as saved it is not listed yet]',
  );
  expect(lines[from + 12]).toBe('    and 190 more: -o wide names them');
  expect(lines[from + 14]).toBe('Ready (1)');
  expect(lines.indexOf('Service')).toBeLessThan(30);
});

it('--not-ready shows only the pods that are not ready, and -o wide every pod with its places', () => {
  const explanation = explainService(input({ pods: [pod(1), notReady(2)] }));
  expect(textOf(explanation, { isNotReadyOnly: true })).not.toMatch(/^Ready|^Service/m);
  expect(textOf(explanation, { isWide: true })).toContain(
    'Pod pod0001\n  Endpoints    10.1.0.2, ready: its Ready condition is True',
  );
});

it('colours depend on the option, and text of a cluster is escaped before it is coloured', () => {
  const line = { text: 'a\u001b[31mb', style: 'bad' } as const;
  expect(rendered(line, { color: 'never', isLocalTime: false })).toBe('a\\u001b[31mb');
  expect(rendered(line, { color: 'always', isLocalTime: false })).toBe('\u001b[31ma\\u001b[31mb\u001b[39m');
});

it('times in this machine’s zone name the same moments', () => {
  const text = rendered('since 2026-03-01T10:00:00.123Z', { color: 'never', isLocalTime: true }).replace(
    'since ',
    '',
  );
  expect(text).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.123[+-]\d\d:\d\d$/);
  expect(Date.parse(text)).toBe(Date.parse('2026-03-01T10:00:00.123Z'));
});

it('YAML has the same data as JSON', () => {
  expect(linesAsData({ a: [1], b: 'x: y' }, 'yaml')).toEqual(['a:', '  - 1', 'b: "x: y"']);
});
