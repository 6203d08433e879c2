/**
 * The truth table: Service × mode × opt-in × writer conflict × setting × controller. The first row that
 * matches a case decides it.
 */
import { expect, it } from 'vitest';
import { decodeCluster } from '#shared/clusters/record.ts';
import { writerFor } from '#shared/clusters/writer/writer-for.ts';
import { type Controller, controllers } from '#shared/kube/controllers.ts';
import { annotationSelector } from '#shared/kube/names.ts';
import type { Service } from '#shared/kube/types.ts';

const services = [
  'selector',
  'both',
  'annotation',
  'invalid annotation',
  'empty annotation',
  'neither',
  'ExternalName',
  'gone',
] as const;
const modes = ['active', 'shadow', 'paused', 'draining', 'removed'] as const;
const optIns = ['off', 'shadow', 'active', 'withdrawing'] as const;

interface Case {
  readonly service: (typeof services)[number];
  readonly mode: (typeof modes)[number];
  readonly optIn: (typeof optIns)[number];
  readonly conflict: boolean;
  /** The controller is switched on in the cluster's settings. */
  readonly on: boolean;
  readonly controller: Controller;
}

type Row = { readonly [K in 'service' | 'mode' | 'optIn']?: readonly Case[K][] } & Partial<
  Pick<Case, 'conflict' | 'on' | 'controller'>
> & {
    readonly writer: string;
  };

const noRuns = ['paused', 'draining', 'removed'] as const;
const withSelector = ['selector', 'both', 'gone'] as const;

/**
 * Writer, task, and managed-by value where it is that of opt-in. A row without a column matches all values of
 * it.
 */
const table: readonly Row[] = [
  { service: withSelector, mode: noRuns, writer: 'built-in: none' },
  { service: withSelector, mode: ['shadow'], conflict: true, writer: 'built-in: none' },
  { service: withSelector, mode: ['active'], conflict: true, writer: 'other: none' },
  { service: withSelector, on: false, writer: 'built-in: none' },
  { service: withSelector, mode: ['shadow'], writer: 'built-in: compare' },
  { service: withSelector, mode: ['active'], writer: 'hub: write' },
  { service: ['invalid annotation', 'empty annotation', 'neither', 'ExternalName'], writer: 'nobody: none' },
  { service: ['annotation'], controller: 'endpoints', writer: 'nobody: none' },
  { service: ['annotation'], optIn: ['off', 'withdrawing'], writer: 'nobody: none' },
  { service: ['annotation'], mode: noRuns, writer: 'nobody: none, by opt-in' },
  { service: ['annotation'], optIn: ['shadow'], conflict: true, writer: 'nobody: none, by opt-in' },
  { service: ['annotation'], optIn: ['shadow'], writer: 'nobody: preview, by opt-in' },
  { service: ['annotation'], optIn: ['active'], conflict: true, writer: 'other: none, by opt-in' },
  { service: ['annotation'], optIn: ['active'], writer: 'hub: write, by opt-in' },
];

const both = [false, true] as const;
const cases: readonly Case[] = services.flatMap((service) =>
  modes.flatMap((mode) =>
    optIns.flatMap((optIn) =>
      both.flatMap((conflict) =>
        both.flatMap((on) =>
          (['endpoints', 'slices'] as const).map((controller) => ({
            service,
            mode,
            optIn,
            conflict,
            on,
            controller,
          })),
        ),
      ),
    ),
  ),
);

const matches = (row: Row, c: Case): boolean =>
  (row.service?.includes(c.service) ?? true) &&
  (row.mode?.includes(c.mode) ?? true) &&
  (row.optIn?.includes(c.optIn) ?? true) &&
  (row.conflict ?? c.conflict) === c.conflict &&
  (row.on ?? c.on) === c.on &&
  (row.controller ?? c.controller) === c.controller;

function serviceOf(kind: Case['service']): Service | undefined {
  if (kind === 'gone') return undefined;
  const annotation = {
    both: 'app=a',
    annotation: 'app=a',
    ExternalName: 'app=a',
    'invalid annotation': 'a in (b',
    'empty annotation': '',
  }[kind as string];
  const hasSelector = kind === 'selector' || kind === 'both';
  return {
    metadata: {
      name: 'svc',
      namespace: 'ns',
      ...(annotation !== undefined && { annotations: { [annotationSelector]: annotation } }),
    },
    spec: {
      ...(hasSelector && { selector: { app: 'a' } }),
      ...(kind === 'ExternalName' && { type: 'ExternalName' }),
    },
  } as Service;
}

function writerOfCase({ service, mode, optIn, conflict, on, controller }: Case) {
  const known = decodeCluster('c', { pk: '', sk: '', mode });
  const withdrawsOptIn = optIn === 'withdrawing';
  const settings = { ...known.settings, controllers: controllers.filter((c) => on || c !== controller) };
  const cluster = {
    ...known,
    optIn: withdrawsOptIn ? 'active' : optIn,
    withdrawsOptIn,
    writerConflict: conflict,
    settings,
  } as const;
  return writerFor(serviceOf(service), cluster, controller);
}

function written(c: Case): string {
  const { writer, task, managedBy } = writerOfCase(c);
  return `${writer}: ${task}${managedBy === 'opt-in.fleet-endpoints' ? ', by opt-in' : ''}`;
}

it('every Service has the writer of the table', () => {
  const wrong = cases.flatMap((c) => {
    const expected = table.find((row) => matches(row, c))?.writer;
    return written(c) === expected ? [] : [{ ...c, expected, written: written(c) }];
  });
  expect(wrong).toEqual([]);
  expect(cases).toHaveLength(8 * 5 * 4 * 2 * 2 * 2);
});

it('every row of the table decides some Service', () => {
  const deciding = new Set(cases.map((c) => table.find((row) => matches(row, c))));
  expect(table.filter((row) => !deciding.has(row))).toEqual([]);
});

it('a Service whose slices are withdrawn has no writer of its own, with and without an annotation', () => {
  const of = (service: Case['service'], optIn: Case['optIn']) =>
    writerOfCase({ service, optIn, mode: 'shadow', conflict: false, on: true, controller: 'slices' }).by;
  const all = ['annotation', 'invalid annotation', 'empty annotation', 'neither', 'selector'] as const;
  expect(all.map((service) => of(service, 'active'))).toEqual([
    'opt-in',
    'invalid-annotation',
    'none',
    'no-annotation',
    'built-in',
  ]);
  expect(all.map((service) => of(service, 'withdrawing'))).toEqual([
    'none',
    'none',
    'none',
    'none',
    'built-in',
  ]);
});

it('the reason names the part of the Service and the part of the cluster', () => {
  const { why } = writerOfCase({
    service: 'annotation',
    optIn: 'active',
    mode: 'shadow',
    conflict: false,
    on: true,
    controller: 'slices',
  });
  expect(why).toMatch(
    /^the Service has no selector, and the annotation .*; the cluster’s switch for opt-in is active: .* beside the built-in controllers/,
  );
});
