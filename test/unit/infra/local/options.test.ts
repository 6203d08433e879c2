import { expect, it } from 'vitest';
import { startCommand } from '#infra/cli/command/start-command.ts';
import { checkedOptions, type TypedOptions } from '#infra/local/options.ts';

/** The options of `fleet-endpoints start` with that line, checked but not run. */
function options(line: string) {
  let typed: TypedOptions = {};
  startCommand()
    .exitOverride()
    .configureOutput({ writeErr() {} })
    .action((values: TypedOptions) => {
      typed = values;
    })
    .parse(line.split(' ').filter(Boolean), { from: 'user' });
  return checkedOptions(typed);
}

it('without arguments there is one embedded cluster that is written to, on port 8080', () => {
  expect(options('')).toEqual({
    clusters: 1,
    kubeconfig: undefined,
    mode: 'active',
    controllersOff: false,
    optIn: 'active',
    clusterset: expect.objectContaining({ imports: 'off', exports: [], allowOverlap: false }),
    dataDir: undefined,
    settings: {},
    port: 8080,
  });
});

it('with a kubeconfig nothing is written unless that is asked for', () => {
  expect(options('--kubeconfig k.yaml')).toMatchObject({
    clusters: 0,
    kubeconfig: { file: 'k.yaml', contexts: [] },
    mode: 'shadow',
    optIn: 'off',
    clusterset: { imports: 'off', exports: [], sameness: 'labelled' },
  });
  expect(options('--kubeconfig=k.yaml --context a --mode active')).toMatchObject({
    kubeconfig: { file: 'k.yaml', contexts: ['a'] },
    mode: 'active',
  });
});

it('reads sizes, settings, the data folder and the port', () => {
  expect(
    options('--clusters 3 --data ./d --batch-period 2 --max-endpoints-per-slice 50 --port 0'),
  ).toMatchObject({
    clusters: 3,
    dataDir: './d',
    settings: { batchPeriodSeconds: 2, maxEndpointsPerSlice: 50 },
    port: 0,
  });
});

it.each([
  ['endpoints', { controllers: ['endpoints'] }],
  ['slices', { controllers: ['slices'] }],
  ['both', { controllers: ['endpoints', 'slices'] }],
])('--controllers %s runs these and no other', (chosen, settings) => {
  expect(options(`--controllers ${chosen}`).settings).toEqual(settings);
});

it.each([
  ['--cluster 3', /^error: unknown option '--cluster'/],
  ['three', /^error: too many arguments/],
  ['--data', /^error: option '--data <dir>' argument missing$/],
  ['--clusters 0', /^--clusters 0: a whole number from 1 to 50$/],
  ['--clusters 1e1', /^--clusters 1e1: a whole number/],
  ['--mode active', /^--mode needs --kubeconfig FILE$/],
  ['--context a', /^--context needs --kubeconfig FILE$/],
  ['--kubeconfig k --context a --context b --context a', /^--context a: given twice$/],
  ['--kubeconfig k --clusters 2', /^--clusters is for embedded clusters/],
  ['--kubeconfig k --mode paused', /argument 'paused' is invalid. Allowed choices are shadow, active\.$/],
  ['--controllers slice', /argument 'slice' is invalid. Allowed choices are endpoints, slices, both\.$/],
  ['--batch-period 901', /^--batch-period 901: a whole number from 0 to 900$/],
])('"%s" is refused with the error', (line, message) => {
  expect(() => options(line)).toThrow(message);
});

it('refuses a port that is none', () => {
  expect(() => options('--port http')).toThrow('--port http: a whole number from 0 to 65535');
});

it('services that opt in are written beside the built-in controllers where that is asked for', () => {
  expect(options('--kubeconfig k.yaml --mode shadow --opt-in active')).toMatchObject({
    mode: 'shadow',
    optIn: 'active',
  });
  expect(() => options('--opt-in on')).toThrow('Allowed choices are off, shadow, active');
});
