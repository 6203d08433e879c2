import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';

const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium';

export async function launchBrowser(): Promise<Browser> {
  if (!existsSync(executablePath)) {
    throw new Error(
      `no Chromium at ${executablePath}: apt-get install -y chromium, or name another one in CHROMIUM`,
    );
  }
  return chromium.launch({
    executablePath,
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}

export interface Look {
  readonly width?: number;
  readonly scheme?: 'light' | 'dark';
  /** Time zone of the browser. */
  readonly zone?: string;
}

/**
 * Opens a page and collects its faults: messages of the console, exceptions, failed requests and requests to
 * other origins.
 */
export async function openPage(
  browser: Browser,
  url: string,
  { width = 1280, scheme = 'light', zone }: Look = {},
): Promise<{ page: Page; faults: string[] }> {
  const page = await browser.newPage({
    viewport: { width, height: width > 600 ? 900 : 844 },
    colorScheme: scheme,
    ...(zone && { timezoneId: zone }),
  });
  const faults: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning')
      faults.push(`${message.type()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => faults.push(`exception: ${error.message}`));
  page.on('request', (request) => {
    if (!request.url().startsWith(url)) faults.push(`request elsewhere: ${request.url()}`);
  });
  page.on('requestfailed', (request) => {
    // Requests of a closed view are aborted.
    if (request.failure()?.errorText !== 'net::ERR_ABORTED')
      faults.push(`request failed: ${request.url()} ${request.failure()?.errorText}`);
  });
  page.on('response', (response) => {
    if (!response.ok()) faults.push(`${response.status()}: ${response.url()}`);
  });
  return { page, faults };
}
