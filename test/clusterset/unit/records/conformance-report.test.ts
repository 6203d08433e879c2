import { expect, it } from 'vitest';
import { reportHtml } from '#test/clusterset/multi-cluster/conformance-report.ts';

it('the HTML report of the specs has each one with its result, and escapes texts', () => {
  const html = reportHtml({
    implementation: { name: 'fleet-endpoints', version: '0.1.0' },
    specsOf: 'suite',
    date: '2026-01-01T00:00:00.000Z',
    command: 'npm run test:multi-cluster',
    passed: 1,
    specs: [
      { name: 'spec 1: <service>.<ns> resolves', state: 'passed' },
      { name: 'spec 2: no', state: 'failed', message: 'expected 1 & got 2' },
    ],
  });
  expect(html).toContain('<title>fleet-endpoints 0.1.0: 1 of 2 specs passed</title>');
  expect(html).toContain('<td>spec 1: &lt;service&gt;.&lt;ns&gt; resolves</td><td>passed</td>');
  expect(html).toContain('<td>failed</td><td>expected 1 &amp; got 2</td>');
});
