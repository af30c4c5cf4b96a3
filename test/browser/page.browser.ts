import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { type Browser, openBrowser } from './browser.ts';
import { type Filled, fillLedger, hostileDirection, megabyte } from './filled-ledger.ts';
import { type PageProcess, startPage } from './start-page.ts';

const pictures = fileURLToPath(new URL('../../docs/pictures', import.meta.url));

let folder: string;
let filled: Filled;
let server: PageProcess;
let browser: Browser;
let page: Page;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'batchling-page-'));
  const store = join(folder, 'ledger.db');
  filled = await fillLedger(store);
  [server, browser] = await Promise.all([startPage(store, ['--write']), openBrowser()]);
  page = await browser.open(server.url);
  await page.waitForSelector('.figures');
});

afterEach(() => {
  expect(browser.complaints).toEqual([]);
});

afterAll(async () => {
  await browser?.close();
  expect(await server?.stop()).toBe(0);
  await filled?.ledger.close();
  rmSync(folder, { recursive: true, force: true });
});

async function goTo(hash: string, shows: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
  await page.getByText(shows).first().waitFor();
}

function text(): Promise<string> {
  return page.locator('main').innerText();
}

interface Screen {
  readonly name: string;
  readonly hash: () => string;
  /** A text that is there once the screen is. */
  readonly shows: string;
}

const screens: readonly Screen[] = [
  { name: 'now', hash: () => '#/', shows: 'Ended last' },
  { name: 'batches', hash: () => '#/batches', shows: 'long-documents' },
  { name: 'batch', hash: () => `#/batch/${filled.running}`, shows: 'Is review 0-0 positive?' },
  { name: 'request', hash: () => `#/request/${filled.conversation}`, shows: 'You rate reviews' },
  { name: 'samples', hash: () => `#/request/${filled.sampled}`, shows: 'Sample 3' },
  { name: 'failures', hash: () => '#/failures', shows: 'maximum context length' },
  { name: 'money', hash: () => '#/money', shows: 'of the list price' },
  { name: 'search', hash: () => '#/search?q=refund%20order', shows: 'found in' },
];

describe('each screen', () => {
  it('shows what is now: progress, what is left, what is slow, what nobody waits for', async () => {
    await goTo('#/', 'Ended last');
    const shown = await text();
    expect(shown).toMatch(/Under way\s+3 batches\s+452 requests/);
    expect(shown).toMatch(/267 of 400 requests, 5 failed/);
    expect(shown).toMatch(/about \d+ min left/);
    expect(shown).toMatch(/85 wait to be sent; the oldest came 2 min ago/);
    expect(shown).toMatch(/Nine of ten batches of this model and size took at most 1 h 35 min/);
    expect(shown).toMatch(/6 wait to be sent; the oldest came 25 min ago/);
    expect(shown.split('That is long,')).toHaveLength(2);
    expect(shown).not.toContain('In the way');
    expect(shown).toContain('4 requests belong to a program that has ended');
    expect(shown).toContain('No program waits for it');
    expect(shown).toMatch(/Worked on by process \d+ on build-7\./);
  });

  it('shows what programs say is in the way, until it is over', async () => {
    await goTo('#/', 'Ended last');
    const refusal = 'api.anthropic.com refuses the API key (401); asking again for up to 10m.';
    await filled.ledger.troubled(filled.me, [refusal]);
    const there = page.getByRole('region', { name: 'In the way' });
    await there.waitFor();
    expect(await there.innerText()).toMatch(/refuses the API key .* \(process \d+ on build-7\)/);
    expect(await text()).not.toContain('That is long,');
    await filled.ledger.troubled(filled.me, []);
    await there.waitFor({ state: 'detached' });
  });

  it('shows one batch: marks, counts, cost, facts, and its requests page by page', async () => {
    await goTo(`#/batch/${filled.running}`, 'Is review 0-0 positive?');
    const shown = await text();
    expect(shown).toMatch(/Accepted by the provider\s+\w+ \d+, \d{4}.* after 4 s/);
    expect(shown).toContain('262 completed, 5 failed, of 400');
    expect(shown).toMatch(/Estimate\s+\$0.92/);
    expect(shown).toContain('50 requests shown');
    await page.getByRole('button', { name: 'More requests' }).click();
    await page.getByText('100 requests shown').waitFor();
    await goTo('#/batches?name=nightly&state=done', 'nightly-eval');
    await page.locator('tbody .id').first().click();
    await page.getByText('All answers collected').waitFor();
    expect(await text()).toMatch(/Paid\s+\$0.050, 92 % of the estimate/);
  });

  it('shows one request as people read it, and raw', async () => {
    await goTo(`#/request/${filled.conversation}`, 'You rate reviews');
    const question = page.getByRole('region', { name: 'Question' });
    const readable = await question.innerText();
    expect(readable).toContain('image/png, 34 KB');
    expect(readable).toMatch(/Calls find_order\s+2 fields\s+order\s+A-1193/);
    expect(readable).toMatch(/Result of call_1\s+2 fields\s+status\s+delivered/);
    expect(readable).not.toContain('iVBOR');
    const answer = page.getByRole('region', { name: 'Answer' });
    expect(await answer.innerText()).toMatch(/verdict\s+positive\s+score\s+0.93/);
    await question.getByText('Tools (1)').click();
    expect(await question.innerText()).toContain('Finds an order by its number.');
    await question.getByText('3 fields').click();
    await expect
      .poll(() => question.innerText())
      .toMatch(/properties\s+1 field\s+required\s+list of 1/);
    await answer.getByRole('button', { name: 'Raw' }).click();
    expect(await answer.innerText()).toContain('"chatcmpl-1"');
  });

  it('shows the samples of a question side by side', async () => {
    await goTo(`#/request/${filled.sampled}`, 'Sample 3');
    const boxes = await page
      .locator('.samples li')
      .evaluateAll((items) => items.map((item) => item.getBoundingClientRect().top));
    expect(boxes).toHaveLength(3);
    expect(new Set(boxes).size).toBe(1);
    await page.getByRole('link', { name: 'Sample 2' }).click();
    await page.getByText('A line of small lights,').first().waitFor();
  });

  it('shows failures grouped, with what helps and an example', async () => {
    await goTo('#/failures', 'maximum context length');
    const shown = await text();
    expect(shown).toMatch(/6 × 400/);
    expect(shown).toContain('The request is too long for the model.');
    expect(shown).toMatch(/3 × 429/);
    expect(shown).toContain('The model `llama-4-scout` is not available for batches.');
    await page.getByRole('link', { name: 'see one of them' }).first().click();
    await page.getByText('Which clauses of contract').first().waitFor();
  });

  it('shows what was paid and saved, each day and by name', async () => {
    await goTo('#/money', 'of the list price');
    const shown = await text();
    expect(shown).toMatch(/Paid\s+\$[\d.]+\s+\d+ calls/);
    expect(shown).toMatch(/50 % of the list price/);
    expect(await page.locator('.chart rect.paid').count()).toBeGreaterThan(10);
    expect(await page.locator('.chart').getAttribute('aria-label')).toMatch(
      /paid \$0\.0\d+, saved/,
    );
    await page.getByLabel('A row for each').selectOption('name');
    await page.getByRole('rowheader', { name: 'nightly-eval' }).waitFor();
    await page.getByLabel('The last').selectOption('7');
    await expect.poll(() => page.locator('.chart rect.paid').count()).toBeLessThan(9);
  });

  it('calls a price unknown that is unknown, and draws a day that saved nothing', async () => {
    const row = { label: '2026-11-18', calls: 3, unpriced: 3, inputTokens: 9, outputTokens: 4 };
    const sums = { cacheReadTokens: 0, cacheWriteTokens: 0, paid: 0, saved: 0, estimate: 0 };
    const free = { ...row, ...sums, estimated: 0 };
    const dearer = { ...free, label: '2026-11-19', unpriced: 0, paid: 0.5, saved: -0.02 };
    const money = { at: Date.now(), since: '2026-11-17', until: '2026-11-19', total: free };
    await page.route('**/api/money*', (route) =>
      route.fulfill({ json: { ...money, days: [free, dearer], rows: [free, dearer], lanes: [] } }),
    );
    await goTo('#/money?by=day', 'Each day');
    expect(await text()).toMatch(/Paid\s+unknown\s+3 calls\s+Saved\s+unknown/);
    expect(await page.locator('.costs tbody tr').allInnerTexts()).toEqual([
      '2026-11-18\tunknown\tunknown\t3\t9\t4',
      '2026-11-19\t$0.50\t-$0.020\t3\t9\t4',
    ]);
    expect(await page.getByRole('img').getAttribute('aria-label')).toContain('saved unknown');
    await page.unroute('**/api/money*');
    const little = { ...dearer, label: '2026-11-18', paid: 0.0009, saved: 0 };
    await page.route('**/api/money*', (route) =>
      route.fulfill({ json: { ...money, total: little, days: [little], rows: [], lanes: [] } }),
    );
    await goTo('#/money?by=lane', '$0.0009');
    const axis = await page.locator('.chart text[text-anchor=end]').allTextContents();
    expect(axis).toEqual(
      expect.arrayContaining(['$0', '$0.00025', '$0.00050', '$0.00075', '$0.00100']),
    );
    await page.unroute('**/api/money*');
  });

  it('has a chart whose labels can be read at 400 pixels', async () => {
    await page.setViewportSize({ width: 400, height: 860 });
    await goTo('#/money', 'of the list price');
    const heights = () =>
      page.evaluate(
        `[...document.querySelectorAll('.chart text')].map((one) => one.getBoundingClientRect().height)`,
      ) as Promise<number[]>;
    await expect.poll(async () => Math.min(...(await heights()))).toBeGreaterThan(9);
    await page.setViewportSize({ width: 1_240, height: 860 });
  });

  it('finds questions and answers by their words', async () => {
    await goTo('#/search', 'Words of a question');
    await page.getByLabel('Words of a question').fill('contract 8 unusual');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: /^Question of/ }).waitFor();
    expect(await text()).toMatch(/1 found in \d+ requests/);
    await page.getByLabel('Words of a question').fill('limit of liability');
    await page.keyboard.press('Enter');
    await expect.poll(() => text()).toMatch(/3 found in \d+ requests/);
  });

  it('tells how long ago something was, whatever was looked at before', async () => {
    await goTo('#/search?q=liability', '3 found in');
    await page
      .getByRole('link', { name: /^Answer of/ })
      .first()
      .click();
    await page.getByRole('region', { name: 'Answer' }).waitFor();
    await page.goBack();
    await page.getByText('3 found in').waitFor();
    expect(await page.locator('.hits time').first().innerText()).toMatch(/^1 d 23 h ago$/);
  });

  it('has no fault that axe knows of, in light and dark, wide and at 400 pixels', async () => {
    const found: string[] = [];
    for (const [scheme, width] of [
      ['light', 1_240],
      ['dark', 400],
    ] as const) {
      await page.emulateMedia({ colorScheme: scheme });
      await page.setViewportSize({ width, height: 860 });
      for (const { name, hash, shows } of screens) {
        await goTo(hash(), shows);
        await page.evaluate(`if (!window.axe) { ${axe.source} }`);
        const violations = (await page.evaluate(
          `axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes[0].html))`,
        )) as string[];
        found.push(...violations.map((one) => `${name}, ${scheme}: ${one}`));
        const wide = Number(await page.evaluate('document.documentElement.scrollWidth'));
        if (wide > width) found.push(`${name}: ${wide} pixels wide at ${width}`);
      }
    }
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize({ width: 1_240, height: 860 });
    expect(found).toEqual([]);
  });
});

it('stays within 400 pixels, whatever a batch is called', async () => {
  const name = 'nightly_evaluation_of_customer_support_answers_in_all_languages';
  const token = await filled.addBatch(name);
  await page.setViewportSize({ width: 400, height: 860 });
  await goTo(`#/batch/${token}`, 'What is nightly_');
  await page.locator('.rows .id').click();
  await page.getByRole('region', { name: 'Question' }).waitFor();
  const wide = await page.evaluate('document.documentElement.scrollWidth');
  await page.setViewportSize({ width: 1_240, height: 860 });
  expect(wide).toBe(400);
});

it('keeps amounts and tags in one line on a page of 800 pixels', async () => {
  await page.setViewportSize({ width: 800, height: 860 });
  await goTo('#/batches', 'long-documents');
  const linesOf = (selector: string) =>
    page.evaluate(`[...document.querySelectorAll('${selector}')].map((one) => {
      const range = document.createRange();
      range.selectNodeContents(one);
      return new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size;
    })`) as Promise<number[]>;
  const amounts = await linesOf('.list .cost');
  const tags = await linesOf('.list .tags a');
  await page.setViewportSize({ width: 1_240, height: 860 });
  expect(Math.max(...amounts)).toBe(1);
  expect(Math.max(...tags)).toBe(1);
});

describe('the list of batches', () => {
  const rows = () => page.locator('tbody tr');

  it('filters by state, provider, model, name and tag', async () => {
    await goTo('#/batches', 'long-documents');
    await page.getByLabel('State').selectOption('failed');
    await expect.poll(() => rows().count()).toBe(1);
    expect(await rows().innerText()).toContain('llama-4-scout');
    // What was refused costs nothing.
    expect(await rows().innerText()).not.toContain('$');
    await page.getByLabel('State').selectOption('');
    await page.getByLabel('Provider').selectOption('google');
    await expect.poll(() => rows().count()).toBe(2);
    await page.getByLabel('Provider').selectOption('');
    await page.getByLabel('Name').fill('LEGAL');
    await page.getByText('No batch is like this').waitFor();
    await page.getByLabel('Name').fill('long-doc');
    await expect.poll(() => rows().count()).toBe(1);
    await page.getByLabel('Name').fill('');
    await page.getByLabel('Tag').fill('team=support');
    await expect.poll(() => rows().count()).toBe(5);
    expect(page.url()).toContain('tag=team%3Dsupport');
    await page.getByRole('link', { name: 'Now', exact: true }).click();
    await page.goBack();
    await expect.poll(() => rows().count()).toBe(5);
  });

  it('says what is wrong where it cannot be read, and shows it once it can', async () => {
    await page.route('**/api/batches*', (route) => route.abort());
    await goTo('#/batches?state=done', 'cannot be reached');
    expect(await text()).not.toContain('No batch is like this');
    await page.unroute('**/api/batches*');
    await filled.addBatch('translations');
    await page.getByText('translations').waitFor();
    expect(await text()).not.toContain('cannot be reached');
    browser.complaints.length = 0;
  });

  it('keeps what it shows where it cannot be read anew', async () => {
    await goTo('#/batches', 'translations');
    await page.route('**/api/batches*', (route) => route.abort());
    await filled.addBatch('product-titles');
    await page.getByText('cannot be reached').waitFor();
    expect(await text()).toContain('translations');
    await page.unroute('**/api/batches*');
    await page.getByText('product-titles').waitFor();
    browser.complaints.length = 0;
  });

  it('shows a batch that ends meanwhile, without reloading', async () => {
    await goTo('#/batches', 'nightly-eval');
    const token = await filled.addBatch('ratings');
    await page.getByText('ratings').waitFor();
    await page.getByRole('link', { name: token.slice(0, 11) }).click();
    await page.getByRole('heading', { name: 'ratings' }).waitFor();
  });

  it('shows the last change soon, although sums of a large ledger are seconds old', async () => {
    await goTo('#/', 'Ended last');
    const old = await page.evaluate(`fetch('api/now', {
      headers: { 'x-batchling-token': sessionStorage.getItem('batchling-token') },
    }).then((response) => response.text())`);
    let looks = 0;
    let served = 0;
    page.on('request', (request) => {
      if (request.url().endsWith('/api/changed')) looks += 1;
    });
    await page.route('**/api/now', (route) => {
      served += 1;
      return served === 1 ? route.fulfill({ json: JSON.parse(String(old)) }) : route.continue();
    });
    looks = 0;
    await filled.addBatch('headlines');
    await page.getByText('headlines').first().waitFor();
    await page.unroute('**/api/now');
    expect(served).toBeGreaterThan(1);
    expect(looks).toBeLessThanOrEqual(3);
  });
});

describe('what a hostile model wrote', () => {
  const shown = async (place: number) => {
    await goTo(`#/request/${filled.hostile[place]}`, 'Hostile:');
    return page.getByRole('region', { name: 'Answer' });
  };

  it('is text where it looks like a script or an image', async () => {
    expect(await (await shown(0)).innerText()).toContain('<script>window.wasRun');
    expect(await (await shown(1)).innerText()).toContain('onerror=');
    expect(await page.locator('main img, main script').count()).toBe(0);
    expect(await page.evaluate('window.wasRun')).toBeUndefined();
  });

  it('is shown with the characters that turn its direction', async () => {
    const answer = await (await shown(2)).innerText();
    expect(answer).toContain('U+202E');
    expect(answer).not.toContain(hostileDirection);
    expect(answer).not.toMatch(/[\u202a-\u202e]/);
  });

  it('is shown so in lists, too', async () => {
    await shown(2);
    await page.getByRole('link', { name: 'playground' }).click();
    await page.getByText('Requests').first().waitFor();
    await page.getByText('Hostile: direction').waitFor();
    expect(await text()).toContain('U+202E');
    expect(await text()).not.toMatch(/[\u202a-\u202e]/);
  });

  it('is shown so in names of batches, which clients of a gateway choose', async () => {
    const token = await filled.addBatch(hostileDirection);
    await goTo('#/batches', 'U+202E');
    expect(await text()).not.toMatch(/[\u202a-\u202e]/);
    await goTo(`#/batch/${token}`, 'What is paid');
    expect(await text()).not.toMatch(/[\u202a-\u202e]/);
    expect(await page.title()).toBe('paid 000,1$ to you · batchling');
    await page.locator('.rows .id').click();
    await page.getByRole('region', { name: 'Question' }).waitFor();
    expect(await text()).not.toMatch(/[\u202a-\u202e]/);
    await goTo('#/money?by=name', 'U+202E');
    expect(await text()).not.toMatch(/[\u202a-\u202e]/);
  });

  it('is cut where it is a megabyte in one line, and shown whole to who wants it', async () => {
    const answer = await shown(3);
    await expect.poll(async () => (await answer.innerText()).length).toBeLessThan(30_000);
    await answer.getByRole('button', { name: 'Show all of it (1.0 MB)' }).click();
    await expect.poll(async () => (await answer.innerText()).includes(' end')).toBe(true);
    expect((await answer.innerText()).length).toBeGreaterThan(megabyte.length);
    expect(Number(await page.evaluate('document.documentElement.scrollWidth'))).toBeLessThanOrEqual(
      1_240,
    );
  });
});

describe('JSON that is made to break its readers', () => {
  const answerOf = async (place: number) => {
    await goTo(`#/request/${filled.hostile[place]}`, 'Hostile:');
    return page.getByRole('region', { name: 'Answer' });
  };

  it('is text where it is deeper than anything that means something', async () => {
    const answer = await answerOf(4);
    expect(await answer.innerText()).toContain('Calls f');
    expect(await answer.innerText()).toContain('[[[[[[[[');
  });

  it('is made as far as somebody opens it', async () => {
    const answer = await answerOf(5);
    const nodes = () => page.locator('main *').count();
    expect(await nodes()).toBeLessThan(2_000);
    await answer.getByText('list of 200').first().click();
    await answer.getByText('list of 20', { exact: true }).first().waitFor();
    expect(await nodes()).toBeLessThan(4_000);
  });

  it('is raw where it cannot be read', async () => {
    expect(await (await answerOf(6)).innerText()).toContain('"toString":1');
  });

  it('takes nothing with it but its own place on the page', async () => {
    const { conversation } = filled;
    const strange = { request: conversation, id: 'strange', samples: [], state: 'answered', at: 0 };
    const answer = { text: '{"choices":[]}' };
    await page.route(`**/api/requests/1000001`, (route) =>
      route.fulfill({ json: { ...strange, answer } }),
    );
    await goTo('#/request/1000001', 'This could not be shown');
    await page.getByRole('link', { name: 'Money' }).click();
    await page.getByText('of the list price').waitFor();
    await goTo('#/batch/%ff', 'no such batch');
    browser.complaints.length = 0;
  });
});

describe('by keys', () => {
  it('a reader gets to each screen, and to the content at once', async () => {
    await goTo('#/', 'Ended last');
    await page.locator('body').press('Tab');
    await page.keyboard.press('Tab');
    await page.locator('.skip').focus();
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('main');
    await page.keyboard.press('/');
    await page.getByLabel('Words of a question').waitFor();
    await expect.poll(() => page.title()).toBe('Search · batchling');
    await page.keyboard.type('refund');
    expect(await page.getByLabel('Words of a question').inputValue()).toBe('refund');
    await page.getByRole('link', { name: 'Failures' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('maximum context length').waitFor();
    await expect.poll(() => page.title()).toBe('Failures · batchling');
    await goTo(`#/batch/${filled.running}`, 'Is review 0-0 positive?');
    await expect.poll(() => page.title()).toBe('nightly-eval · batchling');
  });
});

describe('with --write', () => {
  it('asks before it cancels, and tells what came of it', async () => {
    await goTo(`#/batch/${filled.cancelled}`, 'alt-texts');
    await page.getByRole('button', { name: 'Cancel this batch' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'No' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Cancel this batch' }).click();
    await dialog.getByRole('button', { name: 'Cancel this batch' }).click();
    // There is no key for this account: the page says so, as the command does.
    await page.getByText('cannot be cancelled: set').waitFor();
  });

  it('collects, and tells what it could not reach', async () => {
    await goTo('#/', 'Ended last');
    await page.getByRole('button', { name: 'Collect' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Collect' }).click();
    await page.getByText('no credential for the account').waitFor();
  });
});

describe('the server', () => {
  it('asks for the token that the address has lost', async () => {
    // By another name the browser knows nothing of what it was given.
    const { port } = new URL(server.url);
    const other = await browser.context.newPage();
    await other.goto(`http://localhost:${port}/`);
    await other.getByLabel('Token or address').fill(server.url);
    await other.getByRole('button', { name: 'Open' }).click();
    await other.getByText('Ended last').waitFor();
    await other.close();
    expect(page.url()).not.toContain('token');
  });

  it('says that a token is another one, and takes the address of a server that was started anew', async () => {
    const { origin, hash } = new URL(server.url);
    const tab = await browser.context.newPage();
    await tab.goto(`${origin}/#token=of%another`);
    await tab.getByText('has another token').waitFor();
    await tab.getByLabel('Token or address').fill('a wrong one');
    await tab.getByRole('button', { name: 'Open' }).click();
    await tab.getByText('has another token').waitFor();
    // The address comes into the tab that is open: no page is loaded.
    await tab.evaluate(`location.hash = ${JSON.stringify(hash)}`);
    await tab.getByText('Ended last').waitFor();
    expect(tab.url()).not.toContain('token');
    await tab.close();
  });

  it('is no longer called live where nothing comes from it, and again once something does', async () => {
    const tab = await browser.context.newPage();
    await tab.clock.install();
    await tab.goto(server.url);
    await tab.getByText('Ended last').waitFor();
    await tab.route('**/api/**', () => undefined);
    await tab.clock.fastForward(3_000);
    await tab.clock.fastForward(31_000);
    await tab.getByText('no connection').waitFor();
    await tab.unrouteAll({ behavior: 'ignoreErrors' });
    await tab.clock.fastForward(3_000);
    await tab.getByText('live', { exact: true }).waitFor();
    await tab.close();
  });

  it('is open for a tab that is opened from another one', async () => {
    await goTo('#/batches', 'nightly-eval');
    const opened = browser.context.waitForEvent('page');
    const link = page.getByRole('link', { name: filled.running.slice(0, 11) });
    await link.click({ modifiers: ['Control'] });
    const tab = await opened;
    await tab.getByText('Is review 0-0 positive?').first().waitFor();
    await tab.close();
  });

  it('starts without a ledger, and shows the one that comes, also in the place of a deleted one', async () => {
    const store = join(folder, 'later.db');
    const empty = await startPage(store);
    const tab = await browser.open(empty.url);
    await tab.getByText('There is no ledger yet').waitFor();
    const later = await fillLedger(store);
    await tab.getByText('Ended last').waitFor();
    expect(await tab.getByRole('button', { name: 'Collect' }).count()).toBe(0);
    await later.ledger.close();
    rmSync(store);
    for (const end of ['-wal', '-shm']) rmSync(`${store}${end}`, { force: true });
    await tab.getByText('There is no ledger yet').waitFor();
    const anew = await openLedger(store);
    await tab.getByText('Nothing is under way').waitFor();
    // What the screen asked while there was none.
    expect(browser.complaints.filter((text) => !text.includes('404'))).toEqual([]);
    browser.complaints.length = 0;
    await anew.close();
    await tab.close();
    expect(await empty.stop()).toBe(0);
  });
});

describe.runIf(process.env.BATCHLING_PICTURES)('the pictures of the docs', () => {
  it('are taken', async () => {
    mkdirSync(pictures, { recursive: true });
    // The tests before have left strange things in theirs.
    const store = join(folder, 'pictures.db');
    await filled.ledger.close();
    filled = await fillLedger(store);
    const shown = await startPage(store, ['--write']);
    page = await browser.open(shown.url);
    const take = async (name: string, screen: string, scheme: 'light' | 'dark', width: number) => {
      const { hash, shows } = screens.find((one) => one.name === screen) as Screen;
      await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
      await page.setViewportSize({ width, height: width === 400 ? 860 : 800 });
      await goTo(hash(), shows);
      await page.evaluate(
        `document.querySelector('.store').textContent = '~/.cache/batchling/ledger.db'`,
      );
      await page.screenshot({ path: join(pictures, `ui-${name}.png`) });
    };
    await take('now', 'now', 'light', 1_240);
    await take('now-dark', 'now', 'dark', 1_240);
    await take('now-narrow', 'now', 'light', 400);
    await take('batches', 'batches', 'light', 1_240);
    await take('request', 'request', 'light', 1_240);
    await take('failures', 'failures', 'light', 1_240);
    await take('money', 'money', 'light', 1_240);
    await take('batch', 'batch', 'light', 1_240);
    await take('request-dark', 'request', 'dark', 1_240);
    await take('money-narrow', 'money', 'light', 400);
    expect(await shown.stop()).toBe(0);
  });
});
