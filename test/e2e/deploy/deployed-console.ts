import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { launchBrowser, openPage } from '#test/e2e/console/browser.ts';
import type { Deployment } from './deployment.ts';
import type { Step } from './step.ts';

/**
 * The console on an operator's machine, in a real browser. CloudWatch gets a value by hand: the local cloud
 * makes no metrics of log lines.
 */
export function deployedConsole(hub: Deployment, cluster: string): Step {
  return {
    fact: 'the console of the deployed hub shows fleet, charts and why a pod is an address, in a browser',
    async check() {
      const table = (await hub.outputs(hub.hubStack))['TableName'] ?? '';
      await hub.cloud.call('cloudwatch', 'put_metric_data', {
        Namespace: `FleetEndpoints/${hub.name}`,
        MetricData: [
          { MetricName: 'SilentRelays', Value: 42, Unit: 'Count', Timestamp: Date.now() / 1000 - 60 },
        ],
      });
      const args = ['infra/cli/command/fleet-endpoints.main.ts', 'console', '--table', table, '--port', '0'];
      const child = spawn(process.execPath, args, {
        stdio: ['ignore', 'pipe', 'inherit'],
        env: { ...hub.cloud.administrator },
      });
      const browser = await launchBrowser();
      try {
        const [url] = (await once(createInterface(child.stdout), 'line')) as [string];
        const { page, faults } = await openPage(browser, url);
        await page.goto(`${url}/#/fleet`);
        await page.waitForSelector('.live[data-state="live"]');
        await page.locator('table.fleet a', { hasText: cluster }).waitFor();
        await page.locator('.number', { hasText: '42' }).first().waitFor();
        const href = await page
          .getByRole('link', { name: 'The dashboard in CloudWatch' })
          .getAttribute('href');
        assert.match(href ?? '', new RegExp(`#dashboards/dashboard/${hub.name}-.*-Fleet$`));
        await page.getByText(`fleet-endpoints cluster list --table ${table}`).waitFor();
        await page.goto(`${url}/#/services/${cluster}/default/web`);
        await page.getByText('web-3').first().waitFor();
        await page.goto(`${url}/#/clusterset`);
        await page.getByText('No cluster exports or imports').waitFor();
        assert.deepEqual(faults, []);
      } finally {
        await browser.close();
        child.kill('SIGINT');
        const [code] = await once(child, 'exit');
        assert.equal(code, 0);
      }
    },
  };
}
