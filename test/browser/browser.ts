import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium, type Page } from 'playwright-core';

const chromiumPath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';

const flags = [
  ...[
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-component-update',
  ],
  ...['--disable-background-networking', '--disable-sync'],
];

/** Pages of a browser, and what must not happen on them. */
export interface Browser {
  readonly context: BrowserContext;
  open(url: string): Promise<Page>;
  /** Errors of the console, and requests to other servers. */
  readonly complaints: string[];
  close(): Promise<void>;
}

export async function openBrowser(): Promise<Browser> {
  const folder = mkdtempSync(join(tmpdir(), 'batchling-browser-'));
  const context = await chromium.launchPersistentContext(folder, {
    executablePath: chromiumPath,
    headless: true,
    args: flags,
    viewport: { width: 1240, height: 860 },
    colorScheme: 'light',
    locale: 'en-US',
  });
  const complaints: string[] = [];
  return {
    context,
    complaints,
    async open(url) {
      const page = await context.newPage();
      page.on('console', (message) => {
        if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
      });
      page.on('pageerror', (error) => complaints.push(String(error)));
      page.on('request', (request) => {
        if (new URL(request.url()).origin !== new URL(url).origin) complaints.push(request.url());
      });
      await page.goto(url);
      return page;
    },
    async close() {
      await context.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
