/** The options of a local run for services across clusters. */
import { expect, it } from 'vitest';
import { startCommand } from '#infra/cli/command/start-command.ts';
import { localSet } from '#infra/clusterset/local/clusterset-options.ts';
import { checkedOptions, type TypedOptions } from '#infra/local/options.ts';

const { leftOut } = localSet;

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

it('several contexts are several clusters, which export and import by the options', () => {
  expect(
    options(
      '--kubeconfig k --context a --context b --imports active --exports all --sameness all --allow-overlap',
    ),
  ).toMatchObject({
    kubeconfig: { file: 'k', contexts: ['a', 'b'] },
    clusterset: { imports: 'active', exports: 'all', sameness: 'all', allowOverlap: true },
  });
  expect(options('--kubeconfig k --exports web,api,web').clusterset).toMatchObject({
    imports: 'off',
    exports: ['web', 'api'],
  });
});

it('embedded clusters export and import for the demonstration, unless there is one alone or very many of them', () => {
  expect(options('--clusters 3').clusterset).toMatchObject({
    imports: 'active',
    exports: ['shop'],
    sameness: 'all',
  });
  expect(options('--clusters 3 --imports off --exports none').clusterset).toMatchObject({
    imports: 'off',
    exports: [],
  });
  for (const [n, lines] of [
    [10, []],
    [
      11,
      [
        expect.stringMatching(
          /^no Service is exported: .* 11 clusters are more than 10; --exports shop --imports active exports anyway$/,
        ),
      ],
    ],
  ] as const)
    expect(leftOut(options(`--clusters ${n}`))).toEqual(lines);
  expect(leftOut(options('--clusters 11 --exports shop --imports active'))).toEqual([]);
  for (const line of ['', '--clusters 50'])
    expect(options(line).clusterset).toMatchObject({ imports: 'off', exports: [] });
});

it.each([
  ['--imports on', /argument 'on' is invalid. Allowed choices are off, .*active\.$/],
  ['--sameness none', /argument 'none' is invalid. Allowed choices are labelled, all\.$/],
  [
    '--exports Shop',
    /^--exports Shop: "Shop" is not the name of a namespace; all, none, or names with commas$/,
  ],
  ['--exports shop,', /^--exports shop,: "" is not the name of a namespace/],
  ['--exports shop,kube-system', /^--exports shop,kube-system: namespace kube-system is never exported$/],
])('"%s" is refused with the error', (line, message) => {
  expect(() => options(line)).toThrow(message);
});
