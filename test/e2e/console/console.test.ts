/** The console in a real browser, on a real run with its demonstration workload. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clusterDashboard } from '#infra/aws/monitoring/cluster-dashboard.ts';
import { fleetDashboard } from '#infra/aws/monitoring/fleet-dashboard.ts';
import type { Dashboard } from '#infra/aws/monitoring/widgets.ts';
import type { SeriesAnswer } from '#infra/console/api-types.ts';
import { type LocalRun, startLocalRun } from '#test/support/local-run.ts';
import { type Look, launchBrowser, openPage } from './browser.ts';

let browser: Browser;
let run: LocalRun;
let url: string;
/** Where to look at what was drawn. */
let pictures: string;

const widgetsOf = (dashboard: Dashboard) => dashboard.rows.flatMap((row) => row.widgets);
const views = {
  fleet: '/#/fleet',
  cluster: '/#/cluster/demo-1',
  service: '/#/services/demo-1/shop/web',
  clusterset: '/#/clusterset',
};
/** The flapping service of the demonstration. */
const flapping = '/#/services/demo-1/shop/ads';

const silent = 'as of 2026-01-02T00:00:00Z: the relay is silent since';

/** In a local run these are empty: it has no secrets with credentials, and no clusters of EKS. */
const withoutValues = new Set(['Zones and credentials', 'Zones that traffic is to leave']);

/** Every series of the dashboard has a value. */
async function isFilled(dashboard: Dashboard, cluster?: string): Promise<readonly string[]> {
  const query = new URLSearchParams({ dashboard: dashboard.id, ...(cluster && { cluster }) });
  const { widgets } = (await (await fetch(`${url}/api/series?${query}`)).json()) as SeriesAnswer;
  return widgetsOf(dashboard).flatMap((w, i) =>
    w.series.flatMap((s, j) =>
      widgets[i]?.[j]?.newest == null && !withoutValues.has(w.title) ? `${w.title}: ${s.label}` : [],
    ),
  );
}

async function eventually<T>(
  look: () => Promise<T>,
  isGood: (value: T) => boolean,
  seconds = 60,
): Promise<T> {
  for (const end = Date.now() + seconds * 1000; ; await new Promise((r) => setTimeout(r, 250))) {
    const value = await look();
    if (isGood(value) || Date.now() > end) return value;
  }
}

async function show(view: keyof typeof views, look: Look = {}) {
  const opened = await openPage(browser, url, look);
  await opened.page.goto(url + views[view]);
  await opened.page.waitForSelector('.live[data-state="live"]');
  return opened;
}

/** Other local runs may exist, so HUB names ours by its process id. */
async function command(name: string, ...args: readonly string[]) {
  const { processes } = (await (await fetch(`${url}/healthz`)).json()) as {
    readonly processes: readonly { readonly pid: number }[];
  };
  const [, hub = ''] =
    /^PPid:\t(\d+)$/m.exec(await readFile(`/proc/${processes[0]?.pid}/status`, 'utf8')) ?? [];
  const env = { ...process.env, HUB: hub, NODE_NO_WARNINGS: '1' };
  const all = ['infra/cli/command/fleet-endpoints.main.ts', name, ...args];
  return promisify(execFile)(process.execPath, all, { env }).catch(
    (e: { code: number; stdout: string; stderr: string }) => e,
  );
}

const picture = (page: Page, name: string) =>
  page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true });

beforeAll(async () => {
  browser = await launchBrowser();
  pictures = process.env['PICTURES'] ?? (await mkdtemp(join(tmpdir(), 'console-pictures-')));
  run = startLocalRun(['--clusters', '2']);
  url = (await run.line(/console at (\S+)/))[1] as string;
  await run.line(/^ready:/);
  console.log(`pictures in ${pictures}`);
});

afterAll(async () => {
  await browser?.close();
  expect(await run?.stop()).toBe(0);
});

describe('the dashboards', () => {
  it.each([
    ['fleet', fleetDashboard, undefined],
    ['cluster', clusterDashboard, 'demo-1'],
  ] as const)(
    'the dashboard of the %s has data in every series after the demonstration workload',
    async (_, dashboard, cluster) => {
      expect(
        await eventually(
          () => isFilled(dashboard, cluster),
          (missing) => missing.length === 0,
        ),
      ).toEqual([]);
    },
  );

  it.each([
    ['fleet', fleetDashboard],
    ['cluster', clusterDashboard],
  ] as const)(
    'show on the page of the %s every widget with title, unit, legend, limit and values',
    async (view, dashboard) => {
      const { page, faults } = await show(view);
      await page.waitForFunction(
        (n) => document.querySelectorAll('.widget').length === n,
        widgetsOf(dashboard).length,
      );
      const drawn = await page.locator('.widget').evaluateAll((widgets) =>
        widgets.map((w) => ({
          title: w.querySelector('h3')?.firstChild?.textContent?.trim(),
          unit: w.querySelector('.unit')?.textContent,
          labels: [...w.querySelectorAll('.legend tbody th, .number dt')].map((e) => e.textContent),
          values: [...w.querySelectorAll('.legend tbody th + td, .number .value')].map((e) => e.textContent),
          alternative: w.querySelector('.chart')?.getAttribute('aria-label'),
          canvas: w.querySelector('canvas')?.width,
        })),
      );
      for (const [i, widget] of widgetsOf(dashboard).entries()) {
        const is = drawn[i];
        expect(is?.title).toBe(widget.title);
        expect(is?.labels).toEqual([
          ...widget.series.map((s) => s.label),
          ...(widget.limit ? [widget.limit.label] : []),
        ]);
        if (!withoutValues.has(widget.title)) expect(is?.values, widget.title).not.toContain('–');
        if (widget.kind === 'numbers') continue;
        expect(is?.unit).toMatch(
          widget.unit === 'Milliseconds' ? /^ms$/ : widget.unit === 'Seconds' ? /^s$/ : /^(per \d+ s|count)$/,
        );
        expect(is?.alternative).toContain(
          `Chart of ${widget.title}, newest values: ${widget.series[0]?.label} `,
        );
        expect(is?.canvas).toBeGreaterThan(100);
      }
      expect(faults).toEqual([]);
      await page.close();
    },
  );

  it('the dashboards are live without a reload of the page', async () => {
    const { page, faults } = await show('fleet');
    const shown = () => page.locator('.fleet tbody tr').first().textContent();
    const before = await shown();
    expect(before).toMatch(/demo-1[\s\S]*active[\s\S]*closed/);
    expect(await eventually(shown, (text) => text !== before, 10)).not.toBe(before);
    // Events go on while the demonstration runs; the first chart counts what stands, which is nothing here.
    const chart = page.locator('.chart[aria-label^="Chart of Changes,"]');
    const described = await chart.getAttribute('aria-label');
    expect(
      await eventually(
        () => chart.getAttribute('aria-label'),
        (text) => text !== described,
        40,
      ),
    ).not.toBe(described);
    expect(faults).toEqual([]);
    await page.close();
  });
});

describe('the time of the charts', () => {
  it('a link with minutes and a moment shows the charts until then, also after a step to another view and back', async () => {
    const { page, faults } = await openPage(browser, url, { zone: 'Asia/Tokyo' });
    const until = new Date(Date.now() - 120_000).toISOString().slice(0, 16);
    const asked: string[] = [];
    page.on('request', (request) => request.url().includes('/api/series') && asked.push(request.url()));
    await page.goto(`${url}/#/cluster/demo-1?minutes=15&until=${until}Z`);
    await page.waitForSelector('.live[data-state="live"]');
    expect(await page.locator('#until').inputValue()).toBe(until);
    expect(await page.getByRole('button', { name: '15 min' }).getAttribute('aria-pressed')).toBe('true');
    const query = `minutes=15&until=${Date.parse(`${until}Z`)}`;
    await expect.poll(() => asked.length).toBeGreaterThan(0);
    expect(asked.filter((asking) => !asking.includes(query))).toEqual([]);
    await page.getByRole('link', { name: 'Fleet', exact: true }).click();
    await expect.poll(() => page.url()).toContain(`#/fleet?minutes=15&until=${until}Z`);
    await page.getByRole('button', { name: 'Now' }).click();
    await expect.poll(() => page.url()).toMatch(/#\/fleet\?minutes=15$/);
    const answered = page.waitForResponse((response) => response.url().includes(query));
    await page.locator('#until').fill(until);
    await answered;
    await expect.poll(() => page.url()).toContain(`until=${until}Z`);
    // The times of charts are UTC, in a browser of another zone too.
    await page.locator('.fold:visible').first().click();
    await page.locator('.chart:visible').first().focus();
    await page.keyboard.press('ArrowLeft');
    const legend = () =>
      page.evaluate(() => document.activeElement?.closest('.widget')?.querySelector('thead')?.textContent);
    await expect.poll(legend).toContain(`${until.slice(11)}:00`);
    expect(faults).toEqual([]);
    await page.close();
  });

  it('the switch shows all times in the zone of the browser, and the URL and the commands keep UTC', async () => {
    const { page, faults } = await openPage(browser, url, { zone: 'Asia/Tokyo' });
    const until = new Date(Date.now() - 120_000).toISOString().slice(0, 16);
    const inTokyo = new Date(Date.parse(`${until}Z`) + 9 * 3_600_000).toISOString().slice(0, 16);
    await page.goto(`${url}/#/fleet?until=${until}Z`);
    await page.getByRole('button', { name: 'Time zone: UTC' }).click();
    await expect.poll(() => page.locator('#until').inputValue()).toBe(inTokyo);
    expect(page.url()).toContain(`until=${until}Z`);
    const answered = page.waitForResponse((response) =>
      response.url().includes(`until=${Date.parse(`${until}Z`) - 60_000}`),
    );
    await page
      .locator('#until')
      .fill(new Date(Date.parse(`${inTokyo}Z`) - 60_000).toISOString().slice(0, 16));
    await answered;
    await page.goto(`${url}/#/services/demo-1/shop/web`);
    const tokyo = new Date(Date.now() + 9 * 3_600_000).toISOString().slice(0, 11);
    await expect.poll(() => page.locator('.addresses').textContent()).toContain(`since ${tokyo}`);
    const text = (await page.locator('#content').textContent()) ?? '';
    expect(text).toMatch(/\d (entry|entries), local/);
    expect(text).not.toMatch(/\d\d:\d\d:\d\dZ/);
    await page.locator('.runs button').first().click();
    await expect.poll(() => page.url()).toMatch(/\/web\/\d{4}-[-\dT.:%A]+Z$/);
    await expect
      .poll(() => page.locator('.then').textContent())
      .toMatch(/Since \(local\).*--at \d{4}-\d\d-\d\dT[\d:.]+Z/);
    // The choice stays for the next visit.
    await page.reload();
    await page.getByRole('button', { name: 'Time zone: local' }).click();
    await expect.poll(() => page.locator('.addresses').textContent()).toMatch(/since [\d-]+T[\d:]+Z/);
    expect(faults).toEqual([]);
    await page.close();
  });

  it('the switch works without storage, which browsers that block all cookies lack', async () => {
    const { page, faults } = await openPage(browser, url, { zone: 'Asia/Tokyo' });
    await page.addInitScript(() =>
      Object.defineProperty(window, 'localStorage', {
        get: () => {
          throw new DOMException('denied', 'SecurityError');
        },
      }),
    );
    await page.goto(`${url}/#/fleet`);
    await page.getByRole('button', { name: 'Time zone: UTC' }).click();
    await page.getByRole('button', { name: 'Time zone: local' }).waitFor();
    expect(faults).toEqual([]);
    await page.close();
  });

  it('the page asks for no newer state while it is paused', async () => {
    const { page } = await show('fleet');
    await page.getByRole('button', { name: 'Pause' }).click();
    await expect.poll(() => page.locator('#live').textContent()).toMatch(/^paused, /);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    const shown = await page.locator('#live').textContent();
    await page.waitForResponse((response) => response.url().includes('/api/fleet')).catch(() => {});
    expect([await page.locator('#live').textContent(), asked]).toEqual([shown, []]);
    await page.getByRole('button', { name: 'Pause' }).click();
    await expect.poll(() => page.locator('#live').getAttribute('data-state')).toBe('live');
    await page.close();
  });
});

describe('a hub that does not answer', () => {
  it('everything is grey, as of the last answer, until it answers again', async () => {
    const { page } = await show('service');
    await page.waitForSelector('.picker li');
    await page.route('**/api/**', (route) => route.abort());
    await expect
      .poll(() => page.locator('main').getAttribute('data-as-of'))
      .toMatch(/^as of \d\d:\d\d:\d\d$/);
    expect(await page.locator('#live').textContent()).toMatch(/^as of \d\d:\d\d:\d\d: no answer/);
    const filter = await page.locator('main').evaluate((main) => getComputedStyle(main).filter);
    expect(filter).toBe('grayscale(1)');
    await picture(page, 'away');
    await page.unroute('**/api/**');
    await expect.poll(() => page.locator('main').getAttribute('data-as-of')).toBeNull();
    await page.close();
  });
});

describe('the search of all clusters', () => {
  it('a service is found by the name and by the IP of its pod', async () => {
    const { page, faults } = await show('fleet');
    await page.locator('#find').fill('cart-');
    const first = page.locator('.results a').first();
    await expect.poll(() => first.textContent()).toMatch(/^demo-1 {2}shop\/cart {2}cart-\S+ 10\./);
    const [, ip = ''] = /(10\.\S+)/.exec((await first.textContent()) ?? '') ?? [];
    await page.locator('#find').fill(`demo-1 ${ip}`);
    await expect.poll(() => first.textContent()).toContain(ip);
    await page.keyboard.press('Enter');
    await expect.poll(() => page.url()).toMatch(/#\/services\/demo-1\/shop\/cart$/);
    expect(faults).toEqual([]);
    await page.close();
  });

  it('the key / moves the focus to the search, arrows move along the names, and Enter opens one', async () => {
    const { page, faults } = await show('fleet');
    await page.keyboard.press('/');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('find');
    await page.keyboard.type('shop/web');
    await expect
      .poll(() => page.locator('.results a').allTextContents())
      .toEqual(['demo-1  shop/web', 'demo-2  shop/web']);
    await picture(page, 'search');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.url()).toMatch(/#\/services\/demo-2\/shop\/web$/);
    expect(await page.locator('.results').isVisible()).toBe(false);
    expect(faults).toEqual([]);
    await page.close();
  });

  it('Enter in the field opens the first name, Escape closes the list, and an unknown name is reported', async () => {
    const { page } = await show('fleet', { width: 390, scheme: 'dark' });
    await page.locator('#find').fill('no such name');
    await expect
      .poll(() => page.locator('.results .note').textContent())
      .toBe('No cluster, service or selected pod has such a name or IP.');
    await page.keyboard.press('Escape');
    expect(await page.locator('.results').isVisible()).toBe(false);
    await page.locator('#find').fill('demo');
    await expect.poll(() => page.locator('.results a').first().textContent()).toBe('demo-1');
    await picture(page, 'search-390');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.url()).toMatch(/#\/cluster\/demo-1$/);
    await page.close();
  });
});

describe('the service view', () => {
  it('finds a service and explains its pods', async () => {
    const { page, faults } = await openPage(browser, url);
    await page.goto(`${url}/#/services/demo-1`);
    await page.locator('#search').fill('led');
    await expect
      .poll(() => page.locator('.picker li').allInnerTexts())
      .toEqual([expect.stringMatching(/^ledger[\s\S]*fleet-endpoints$/)]);
    expect(await page.locator('.picker li .writer').getAttribute('title')).toMatch(
      /^the Service has a selector, and the cluster is active/,
    );
    await page.getByRole('link', { name: /^ledger/ }).click();
    await page.waitForSelector('article h2');
    expect(await page.locator('article h2').textContent()).toBe('payments/ledger');
    const row = page.locator('.addresses tbody tr', { hasText: 'ledger-0' });
    await expect
      .poll(() => row.textContent())
      .toMatch(
        /^ledger-010\.244\.\d+\.\d+node-\dzone-\wreadyreadyEndpointsIPv4 slice ledger-\w+its Ready condition is True since/,
      );
    // The workload may be updating the Service just now.
    await expect
      .poll(() => page.locator('.map figcaption').allTextContents())
      .toEqual([expect.stringMatching(/^IPv4 slice ledger-\w+ 3\/3 ready$/)]);
    const places = ['zone-a 1/1 ready', 'zone-b 1/1 ready', 'zone-c 1/1 ready'];
    await expect.poll(() => page.locator('.map .place').allTextContents()).toEqual(places);
    const facts = await page.locator('.facts').textContent();
    for (const label of [
      'Writer',
      'Selector',
      'Generation',
      'Trigger time, Endpoints',
      'Circuit',
      'First lists',
    ])
      expect(facts).toContain(label);
    expect(await page.title()).toBe('payments/ledger · Services · Fleet endpoints');
    await page.goBack();
    await expect.poll(() => page.locator('.detail').textContent()).toContain('Choose a service');
    expect(faults).toEqual([]);
    await page.close();
  });
});

describe('the page of the clusterset', () => {
  it('the service that each cluster of the demonstration exports is imported by each', async () => {
    const { page, faults } = await show('clusterset');
    const row = page.locator('.set-services tbody tr', { hasText: 'shop/catalog' });
    const states = ['demo-1 fresh', 'demo-2 fresh', 'demo-1 imported', 'demo-2 imported'];
    await expect
      .poll(async () => (await row.locator('.state').allTextContents()).sort())
      .toEqual(states.sort());
    expect(await row.locator('li').allTextContents()).toEqual([]);
    expect(faults).toEqual([]);
    await page.close();
  });
});

describe('the time line of a service', () => {
  const headlines = (page: Page) => page.locator('.runs > li').allTextContents();
  const count = async (page: Page) =>
    Number.parseInt((await page.locator('.history .heading .note').textContent()) ?? '', 10);

  it('lists the newest runs with a mark for each, and keeps the chosen run while others come', async () => {
    const { page, faults } = await openPage(browser, url);
    await page.goto(url + flapping);
    expect(
      await eventually(
        () => count(page),
        (n) => n >= 4,
      ),
    ).toBeGreaterThanOrEqual(4);
    expect((await headlines(page))[0]).toMatch(/^\d{4}-\d\d-\d\d [\d:]{8} wrote (Endpoints|\d+ slices?)/);
    await expect.poll(async () => (await page.locator('.mark').count()) - (await count(page))).toBe(0);
    const oldest = page.locator('.runs button').last();
    const at = await oldest.getAttribute('data-at');
    await oldest.press('Enter');
    const chosen = page.locator('.runs button[aria-pressed="true"]');
    await expect.poll(() => chosen.getAttribute('data-at')).toBe(at);
    const shown = await count(page);
    expect(
      await eventually(
        () => count(page),
        (n) => n > shown,
      ),
    ).toBeGreaterThan(shown);
    expect(await chosen.getAttribute('data-at')).toBe(at);
    expect(await page.evaluate(() => document.activeElement?.getAttribute('data-at'))).toBe(at);
    await picture(page, 'time-line');
    expect(faults).toEqual([]);
    await page.close();
  });

  it('a link with a moment shows the addresses of that moment, with since when and why', async () => {
    const { page, faults } = await openPage(browser, url);
    await page.goto(url + flapping);
    await expect.poll(() => page.locator('.mark').count()).toBeGreaterThan(3);
    await page.locator('.runs button').nth(1).click();
    await expect.poll(() => page.url()).toMatch(/\/shop\/ads\/\d{4}-\d\d-\d\dT[\d%A:.]+Z$/);
    const link = page.url();
    await page.goto('about:blank');
    await page.goto(link);
    await expect
      .poll(() => page.locator('.then .summary').textContent())
      .toMatch(/^\d+ of \d+ listed pods (was|were) ready to be reached/);
    const rows = page.locator('.then tbody tr');
    // A pod that is being deleted, which the chosen run may have met, is in the slices alone.
    await expect
      .poll(() => rows.first().textContent())
      .toMatch(/^(Endpoints and )?IPv4 slices10\.244\.\d+\.\d+ads-.*ready.*\d{4}-\d\d-\d\d /);
    // The page opens on the moment, and says so at its top.
    await expect
      .poll(() => page.locator('.then').evaluate((then) => then.getBoundingClientRect().top < innerHeight))
      .toBe(true);
    expect(await page.locator('.moment').textContent()).toMatch(/^The addresses at \d{4}-\d\d-\d\d /);
    await page.getByRole('button', { name: 'Back to now' }).click();
    await expect.poll(() => page.url()).toMatch(/\/shop\/ads$/);
    expect(await page.locator('.moment').isVisible()).toBe(false);
    expect(faults).toEqual([]);
    await page.close();
  });

  it('the search finds the runs of an address', async () => {
    const { page } = await openPage(browser, url);
    await page.goto(url + flapping);
    await expect.poll(() => page.locator('.runs > li').count()).toBeGreaterThan(1);
    await page.locator('#run-search').fill('203.0.113.9');
    await expect.poll(() => page.locator('.history .empty').textContent()).toBe('The search finds no entry.');
    await page.locator('#run-search').fill('added');
    await expect
      .poll(async () => (await headlines(page)).every((text) => text.includes('added to')))
      .toBe(true);
    await page.close();
  });
});

describe('a Service without a writer', () => {
  it('such a Service is a cause of both verdicts, which link to the list of such Services', async () => {
    const { page, faults } = await show('fleet');
    const cause = page.locator('.verdict a', { hasText: '2 services without a writer' });
    await command('cluster', 'opt-in', 'demo-1', 'off');
    try {
      await cause.waitFor();
      expect(await page.locator('.verdict li').allTextContents()).toContain(
        'demo-1: 2 services without a writer',
      );
      await page.goto(`${url}/#/cluster/demo-1`);
      await cause.click();
      await expect
        .poll(() => page.locator('.picker li').allInnerTexts())
        .toEqual([expect.stringMatching(/^fraud/), expect.stringMatching(/^cart/)]);
      expect(await page.locator('#filter').inputValue()).toBe('no writer');
      expect(await page.locator('.picker li .writer.bad').allTextContents()).toEqual([
        'no writer: opt-in is off',
        'no writer: opt-in is off',
      ]);
    } finally {
      await command('cluster', 'opt-in', 'demo-1', 'active', '--override');
    }
    await page.goto(`${url}/#/fleet`);
    await expect.poll(() => cause.count()).toBe(0);
    expect(faults).toEqual([]);
    await page.close();
  });
});

describe('the commands of a page', () => {
  it('a button copies the command, by the keyboard too, and reports it', async () => {
    const { page, faults } = await show('service');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const button = page.getByRole('button', {
      name: 'Copy the command npx fleet-endpoints history demo-1 shop/web',
    });
    await button.focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => button.textContent()).toBe('Copied');
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
      'npx fleet-endpoints history demo-1 shop/web',
    );
    await expect.poll(() => button.textContent()).toBe('Copy');
    expect(faults).toEqual([]);
    await page.close();
  });
});

describe('the table of the fleet', () => {
  it('the table is searched, filtered and sorted', async () => {
    const { page, faults } = await show('fleet');
    const names = () => page.locator('.fleet tbody th').allTextContents();
    await expect.poll(names).toEqual(['demo-1', 'demo-2']);
    await page.getByRole('button', { name: 'Cluster', exact: true }).click();
    await expect.poll(names).toEqual(['demo-2', 'demo-1']);
    expect(await page.locator('.fleet th[aria-sort="descending"]').textContent()).toBe('Cluster');
    await page.locator('#fleet-search').fill('demo-1');
    await expect.poll(names).toEqual(['demo-1']);
    await page.locator('#fleet-filter').selectOption('paused');
    await expect.poll(names).toEqual([]);
    expect(await page.locator('.row .heading .note').textContent()).toBe('0 of 2');
    expect(faults).toEqual([]);
    await page.close();
  });

  it('a cluster with a zone that traffic is away from has a badge until it is back', async () => {
    const { page, faults } = await show('fleet');
    const badge = page.locator('.fleet tbody th .badge');
    await expect.poll(() => badge.allTextContents()).toEqual(['', '']);
    expect((await command('cluster', 'zone', 'demo-2', 'zone-a', 'away')).stdout).toMatch(
      /ready endpoints? leave/,
    );
    await expect.poll(() => badge.last().textContent(), { timeout: 15_000 }).toBe('zone-a away');
    expect(await badge.last().getAttribute('title')).toMatch(/^traffic is away from zone-a until \S+Z, by /);
    await page.locator('#fleet-filter').selectOption('zone away');
    await expect.poll(() => page.locator('.fleet tbody th a').allTextContents()).toEqual(['demo-2']);
    await command('cluster', 'zone', 'demo-2', 'zone-a', 'back');
    await expect
      .poll(() => page.locator('.fleet tbody th a').allTextContents(), { timeout: 15_000 })
      .toEqual([]);
    expect(faults).toEqual([]);
    await page.close();
  });

  it('the table of 1,000 clusters shows fifty rows and the number of the others', async () => {
    const { page } = await openPage(browser, url);
    const [row] = (await (await fetch(`${url}/api/fleet`)).json()) as readonly object[];
    const rows = Array.from({ length: 1_000 }, (_, i) => ({
      ...row,
      id: `c-${i}`,
      unreachable: 0,
      ...(i === 777 && { heartbeatAge: 600, notKnown: silent }),
    }));
    await page.route('**/api/fleet*', (route) => route.fulfill({ json: rows }));
    await page.goto(`${url}/#/fleet`);
    await expect.poll(() => page.locator('.fleet tbody tr').count()).toBe(50);
    expect(await page.locator('.row .empty').first().textContent()).toBe('950 more: the search finds them.');
    await expect
      .poll(() => page.locator('.verdict p').textContent())
      .toBe('1 of 1000 clusters needs attention');
    await page.locator('#fleet-filter').selectOption('need attention');
    await expect.poll(() => page.locator('.fleet tbody th').allTextContents()).toEqual(['c-777']);
    await picture(page, 'fleet-of-1000');
    await page.close();
  });

  it('the clusters are grouped by a label, with the number of clusters that need attention', async () => {
    const { page, faults } = await openPage(browser, url);
    const [row] = (await (await fetch(`${url}/api/fleet`)).json()) as readonly object[];
    const labelled = [{ env: 'prod' }, { env: 'dev', team: 'shop' }, {}, { env: 'prod' }];
    const rows = labelled.map((labels, i) => ({
      ...row,
      id: `c-${i}`,
      labels,
      heartbeatAge: i === 3 ? 600 : 1,
      ...{ notKnown: i === 3 ? silent : null, unreachable: 0 },
    }));
    await page.route('**/api/fleet*', (route) => route.fulfill({ json: rows }));
    await page.goto(`${url}/#/fleet`);
    await page.getByLabel('Group by').selectOption('env');
    const heads = ['dev: 1', 'c-1', 'no env: 1', 'c-2', 'prod: 2, 1 need attention', 'c-0', 'c-3'];
    await expect.poll(() => page.locator('.fleet tbody th').allTextContents()).toEqual(heads);
    await picture(page, 'fleet-by-label');
    await page.locator('#fleet-search').fill('team=shop');
    await expect.poll(() => page.locator('.fleet tbody th').allTextContents()).toEqual(['dev: 1', 'c-1']);
    expect(faults).toEqual([]);
    await page.close();
  });
});

/** `DOCS=1 npm run test:console -- -t README` creates the picture again. */
it.runIf(process.env['DOCS'] === '1')(
  'the picture in README.md shows a service that cannot be reached, and why',
  async () => {
    const { page, faults } = await openPage(browser, url);
    await page.setViewportSize({ width: 1280, height: 720 });
    await page.goto(`${url}/#/services/demo-1/shop/checkout`);
    await page.waitForSelector('.addresses tbody tr');
    // The run has just begun, and the demonstration is complete when the other Services are served too.
    await page
      .getByText(/^Unreachable: 0 of 2 pods can be reached; everything is written/)
      .waitFor({ timeout: 60_000 });
    await page.getByText('3/3').first().waitFor({ timeout: 60_000 });
    await page.screenshot({ path: 'docs/console.png' });
    expect(faults).toEqual([]);
    await page.close();
  },
);

describe('fleet-endpoints explain', () => {
  const explain = (...args: readonly string[]) => command('explain', ...args);

  it('explain prints the same in a terminal', async () => {
    const { stdout } = await explain('demo-1', 'payments/ledger', 'ledger-0');
    expect(stdout).toMatch(/^demo-1 payments\/ledger: /);
    expect(stdout).toMatch(/^Pod ledger-0\n {2}Endpoints {4}/m);
    expect(stdout).not.toContain('ledger-1');
  });

  it('history prints the runs of a service, and explain --at its past addresses', async () => {
    const history = await command('history', 'demo-1', 'shop/web', '--since', '1h');
    expect(history.stdout).toMatch(
      /^\d{4}-\S+Z wrote .*, accepted \d+ ms after (the relay saw the change|it was due)/m,
    );
    expect(history.stdout).toMatch(/^ {2}pod web-\S+: 10\.244\.\S+ (added to|removed from|changed in) /m);
    const { runs } = JSON.parse((await command('history', 'demo-1', 'shop/web', '-o', 'json')).stdout) as {
      runs: { time: string }[];
    };
    const justAfter = new Date(Date.parse(runs.at(-1)?.time ?? '') + 1).toISOString();
    const then = await command('explain', 'demo-1', 'shop/web', '--at', justAfter);
    expect(then.stdout).toMatch(
      /^demo-1 shop\/web at \S+Z: \d+ of \d+ listed pods (was|were) ready to be reached; the last run on record before that wrote \d+ ms earlier/,
    );
    expect((await command('explain', 'demo-1', 'shop/web', '--at', '9d')).stderr).toMatch(
      /^error: \S+Z is too long ago: history is kept for 7 days/,
    );
  });

  it('the shells are offered the names of clusters, namespaces and services', async () => {
    const offered = async (...words: readonly string[]) => {
      const { stdout } = await command('complete', '--', ...words);
      return stdout.split('\n').flatMap((line) => (line.startsWith(':') || line === '' ? [] : line.trim()));
    };
    // A shell gets no names within two seconds from a machine that is busy.
    await expect.poll(() => offered('explain', '')).toEqual(['demo-1', 'demo-2']);
    await expect.poll(() => offered('explain', 'demo-1', '')).toEqual(['payments/', 'shop/']);
    await expect.poll(() => offered('explain', 'demo-1', 'sh')).toContain('shop/web');
    await expect.poll(() => offered('history', 'demo-1', '-n', '')).toEqual(['payments', 'shop']);
  });

  it('an unknown name is answered by one line with the existing names', async () => {
    const failed = await explain('demo-1', 'shop/nothing');
    expect(failed).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(
        /no service nothing in namespace shop of demo-1: there are ads, cart, catalog, checkout, (derived-\w+, )?reviews, search, web\n$/,
      ),
    });
    expect(await explain('demo-9', 'shop/web')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/no cluster demo-9: there are demo-1, demo-2\n$/),
    });
  });
});

describe('a link to an unknown name', () => {
  it.each([
    ['/#/cluster/nope', 'The hub has no cluster nope. Its clusters are:', ['demo-1', 'demo-2']],
    ['/#/services/nope', 'The hub has no cluster nope. Its clusters are:', ['demo-1', 'demo-2']],
    ['/#/services/nope/shop/web', 'The hub has no cluster nope. Its clusters are:', ['demo-1', 'demo-2']],
  ])(
    'the page %s reports that the cluster does not exist, and shows no other cluster',
    async (path, text, clusters) => {
      const { page } = await openPage(browser, url);
      await page.goto(url + path);
      await expect.poll(() => page.locator('#content [role="status"]').textContent()).toBe(text);
      expect(await page.locator('#content a').allTextContents()).toEqual(clusters);
      expect(await page.locator('#content select').count()).toBe(0);
      await page.close();
    },
  );

  it('the page of an unknown service reports this, and lists the cluster’s services', async () => {
    const { page } = await openPage(browser, url);
    await page.goto(`${url}/#/services/demo-1/shop/nope`);
    await expect
      .poll(() => page.locator('.detail [role="status"]').textContent())
      .toMatch(/^no service nope in namespace shop of demo-1: there are .*web/);
    await page.close();
  });
});

describe.each([1920, 1280, 390])('at %i pixels wide', (width) => {
  it.each(Object.keys(views) as (keyof typeof views)[])(
    'the page of the %s does not scroll sideways, light and dark',
    async (view) => {
      const grounds: string[] = [];
      for (const scheme of ['light', 'dark'] as const) {
        const { page, faults } = await show(view, { width, scheme });
        if (view === 'service') await page.waitForSelector('.addresses tbody tr');
        if (view === 'clusterset') await page.waitForSelector('.set-services .state');
        // A chart is as wide as its widget once it has been measured.
        await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
        const outside = await page.evaluate(
          (w) =>
            [...document.querySelectorAll('main *')].filter((e) => e.getBoundingClientRect().right > w + 1)
              .length,
          width,
        );
        expect(outside).toBe(0);
        grounds.push(await page.evaluate(() => getComputedStyle(document.body).backgroundColor));
        await picture(page, `${view}-${width}-${scheme}`);
        expect(faults).toEqual([]);
        await page.close();
      }
      expect(new Set(grounds).size).toBe(2);
    },
  );
});

describe('the keyboard', () => {
  it.each(Object.keys(views) as (keyof typeof views)[])(
    'reaches everything on the page of the %s, and shows where it is',
    async (view) => {
      const { page } = await show(view);
      if (view === 'service') await page.waitForSelector('.picker li a');
      if (view === 'clusterset') await page.waitForSelector('.set-services .state');
      const controls = 'a[href], button, select, input, .chart';
      /**
       * Indexes of the visible controls. A chart that is quiet folds, so the set may change while the test
       * runs.
       */
      const visible = () =>
        page.evaluate(
          (all) => [...document.querySelectorAll(all)].flatMap((e, i) => (e.checkVisibility() ? [i] : [])),
          controls,
        );
      const before = await visible();
      const reached = new Set<number>();
      for (let i = 0; i < before.length + 12; i++) {
        await page.keyboard.press('Tab');
        const focus = await page.evaluate((all) => {
          const e = document.activeElement;
          if (!e || e === document.body) return undefined;
          const { outlineStyle, outlineWidth } = getComputedStyle(e);
          return {
            at: [...document.querySelectorAll(all)].indexOf(e),
            visible: outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 2,
          };
        }, controls);
        if (!focus) continue;
        expect(focus.visible).toBe(true);
        reached.add(focus.at);
      }
      const after = await visible();
      expect(before.length).toBeGreaterThan(5);
      expect(before.filter((at) => after.includes(at) && !reached.has(at))).toEqual([]);
      await page.close();
    },
  );

  it('walks along a chart’s points, and the table beneath follows', async () => {
    const { page } = await show('cluster');
    const widget = page.locator('.widget', { has: page.locator('.chart') }).first();
    await widget.locator('.chart').focus();
    await page.keyboard.press('ArrowLeft');
    await expect.poll(() => widget.locator('thead').textContent()).toMatch(/\d\d:\d\d:\d\d/);
    await page.keyboard.press('Escape');
    await expect.poll(() => widget.locator('thead').textContent()).toContain('newest');
    await page.close();
  });
});
