import { expect, it } from 'vitest';
import { clusterOfContext } from '#infra/cli/hub/kubectl-context.ts';
import { UsageError } from '#infra/cli/terminal/usage-error.ts';

const config = (current: string, name: string, cluster: string): string =>
  `current-context: ${current}\ncontexts:\n- name: ${name}\n  context: { cluster: "${cluster}", user: u }\n`;
const ids = ['shop-prod', 'shop-test'];

it.each([
  ['the context', config('shop-prod', 'shop-prod', 'x')],
  ['the cluster of the context', config('admin', 'admin', 'shop-prod')],
  ['an EKS cluster', config('admin', 'admin', 'arn:aws:eks:eu-west-1:111122223333:cluster/shop-prod')],
  ['a GKE cluster', config('gke_project_europe-west1_shop-prod', 'gke_project_europe-west1_shop-prod', 'x')],
])('the cluster of the hub is found by the name of %s', (_, text) => {
  expect(clusterOfContext(ids, [text])).toBe('shop-prod');
});

it('the only cluster of a hub needs no context', () => {
  expect(clusterOfContext(['demo-1'], [])).toBe('demo-1');
});

it('the first of several files with a current context counts, and its context may be in another file', () => {
  expect(clusterOfContext(ids, ['', 'current-context: a', config('b', 'a', 'shop-test')])).toBe('shop-test');
});

it.each([
  [[], /which cluster\? There are shop-prod, shop-test; kubectl has no current context/],
  [[config('dev', 'dev', 'dev')], /kubectl's context dev names none of them/],
])('a context that names no cluster of the hub is an error with the clusters: %j', (texts, message) => {
  expect(() => clusterOfContext(ids, texts)).toThrow(UsageError);
  expect(() => clusterOfContext(ids, texts)).toThrow(message);
});
