/**
 * The page of the clusterset in a real browser, on the records that real runs of several clusters have left.
 */
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clusterDashboard } from '#infra/aws/monitoring/cluster-dashboard.ts';
import { fleetDashboard } from '#infra/aws/monitoring/fleet-dashboard.ts';
import { apiRoutes } from '#infra/console/console-api.ts';
import type { MetricsSource } from '#infra/console/metrics-source.ts';
import { pageRoutes } from '#infra/console/page.ts';
import { type Console, startConsole } from '#infra/console/server.ts';
import { exporter, foreignImport, importer, namespace, pod } from '#test/clusterset/support/set-objects.ts';
import { SetWorld } from '#test/clusterset/support/set-world.ts';
import { type Look, launchBrowser, openPage } from '#test/e2e/console/browser.ts';

let browser: Browser;
let world: SetWorld;
let server: Console;
let pictures: string;

/** The pages of this test draw no metrics. */
const metrics: MetricsSource = {
  minutes: [5],
  dashboards: async () => [fleetDashboard, clusterDashboard],
  series: async () => ({ from: 0, period: 60, widgets: [] }),
  recent: async () => new Map(),
};

beforeAll(async () => {
  browser = await launchBrowser();
  pictures = process.env['PICTURES'] ?? (await mkdtemp(join(tmpdir(), 'console-pictures-')));
  world = await SetWorld.start({
    'shop-a': importer(),
    'shop-b': exporter('10.2.0', { imports: 'active' }),
    'shop-c': exporter('10.3.0', { given: [pod('twin', '10.2.0.1')] }),
    'shop-d': exporter('10.4.0', { exports: { namespaces: ['other'] } }),
    'shop-e': importer({ given: [namespace(), foreignImport()] }),
    'shop-f': importer({ imports: 'shadow' }),
  });
  await world.pass(10);
  world.of('shop-c').isBeating = false;
  await world.pass(300);
  const table = () => world.table;
  server = await startConsole(0, {
    ...pageRoutes(),
    ...apiRoutes({ metrics, table, now: () => world.nowMs, refreshSeconds: 1 }),
  });
  console.log(`pictures in ${pictures}`);
});

afterAll(async () => {
  await browser?.close();
  server?.close();
});

async function show(path: string, look: Look = {}) {
  const opened = await openPage(browser, server.url, look);
  await opened.page.goto(server.url + path);
  await opened.page.waitForSelector('.live[data-state="live"]');
  return opened;
}

describe('the page of the clusterset', () => {
  it('lists the clusters with their word and counts, and each name with its sources, importers and remarks', async () => {
    const { page, faults } = await show('/#/clusterset');
    const member = (id: string) =>
      page.locator('.members tbody tr', { has: page.locator(`a:text-is("${id}")`) }).textContent();
    await expect.poll(() => page.locator('.members tbody tr').count()).toBe(6);
    expect(await member('shop-b')).toMatch(/default\s*fresh\s*namespaces shop\s*active/);
    expect(await member('shop-c')).toMatch(/silent/);
    // The names of clusters do not break at their hyphens.
    const heights = await page
      .locator('.members tbody th a')
      .evaluateAll((links) => links.map((link) => link.getClientRects().length));
    expect([...new Set(heights)]).toEqual([1]);
    const row = page.locator('.set-services tbody tr').first();
    expect(await row.locator('.state').allTextContents()).toEqual([
      'shop-b fresh',
      'shop-c silent',
      'shop-d not valid',
      'shop-a imported',
      'shop-b imported',
      'shop-e refused',
      'shop-f preview',
    ]);
    expect(await row.locator('li').allTextContents()).toContainEqual(
      expect.stringMatching(/^shop-c is silent: its relay sent its last heartbeat/),
    );
    await page.locator('#set-search').fill('nothing like it');
    await expect.poll(() => page.locator('.set-services tbody tr').count()).toBe(0);
    await page.locator('#set-search').fill('web twin');
    await expect.poll(() => page.locator('.set-services tbody tr').count()).toBe(1);
    expect(await page.title()).toBe('Clusterset · Fleet endpoints');
    expect(faults).toEqual([]);
    await page.close();
  });

  it('leads from a state to the explanation in that cluster, where the sources and their pods are', async () => {
    const { page, faults } = await show('/#/clusterset');
    await page.getByRole('link', { name: 'shop-a imported' }).click();
    await page.waitForSelector('.of-set');
    expect(await page.locator('article h2').textContent()).toBe('shop/web');
    await expect
      .poll(() => page.locator('.of-set').textContent())
      .toMatch(
        /shop-c\s*silent\s*2 addresses, 2 ready, ports http 80\/TCP\s*its relay sent its last heartbeat/,
      );
    expect(await page.locator('.of-set').textContent()).toMatch(
      /not listed\s*twin\s*collision: pod web-1 of shop-b has the address on the same port/,
    );
    await page.locator('.of-set a').first().focus();
    await page.waitForTimeout(1_500);
    expect(await page.evaluate(() => document.activeElement?.closest('.of-set') !== null)).toBe(true);
    expect(faults).toEqual([]);
    await page.close();
  });

  it('the page warns of the hub when more than half of the set is silent', async () => {
    const { page, faults } = await show('/#/clusterset');
    await expect.poll(() => page.locator('.members tbody tr').count()).toBe(6);
    expect(await page.locator('.notice').isVisible()).toBe(false);
    const others = ['shop-a', 'shop-b', 'shop-d'].map((id) => world.of(id));
    for (const member of others) member.isBeating = false;
    await world.pass(300);
    await expect.poll(() => page.locator('.notice').textContent()).toMatch(/^4 of 6 clusters are silent/);
    for (const member of others) member.isBeating = true;
    await world.pass(60);
    await expect.poll(() => page.locator('.notice').isVisible()).toBe(false);
    expect(faults).toEqual([]);
    await page.close();
  });

  it('the page follows changes without being reloaded', async () => {
    const { page, faults } = await show('/#/clusterset');
    const state = page.locator('.set-services .state', { hasText: 'shop-c' });
    await expect.poll(() => state.textContent()).toBe('shop-c silent');
    world.of('shop-c').isBeating = true;
    await world.pass(60);
    await expect.poll(() => state.textContent()).toBe('shop-c fresh');
    expect(faults).toEqual([]);
    await page.close();
  });

  it.each([1280, 390])('the page does not scroll sideways at %i pixels, light and dark', async (width) => {
    for (const scheme of ['light', 'dark'] as const)
      for (const [name, path] of [
        ['clusterset', '/#/clusterset'],
        ['import', '/#/services/shop-a/shop/web'],
      ] as const) {
        const { page, faults } = await show(path, { width, scheme });
        await page.waitForSelector(name === 'import' ? '.of-set' : '.set-services tbody tr');
        await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
        const outside = await page.evaluate(
          (w) =>
            [...document.querySelectorAll('main *')].filter((e) => e.getBoundingClientRect().right > w + 1)
              .length,
          width,
        );
        expect(outside).toBe(0);
        await page.screenshot({ path: join(pictures, `${name}-${width}-${scheme}.png`), fullPage: true });
        expect(faults).toEqual([]);
        await page.close();
      }
  });
});
