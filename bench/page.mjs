// What the page costs on a large ledger, in a file or in a PostgreSQL of its own: node bench/page.mjs [requests] [file|postgres]
// (Linux). The first paint is measured where Chromium is installed.
// The parts of the ledger are no entries of the package: they are loaded from the sources.
import 'tsx';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { databaseLedger, fileLedger } from './page-ledgers.mjs';

const { openLedger } = await import('../src/ledger/open-ledger.ts');
const { bundlePage } = await import('../scripts/bundle-page.mjs');

const [count = '5000000', kind = 'file'] = process.argv.slice(2);
const requests = Number(count);
const pollSeconds = 30;
/** As the page asks: see `src/ui/browser/server.ts`. */
const pollEvery = 2_000;

process.stderr.write(`making a ledger of ${requests.toLocaleString('en')} requests\n`);
const made = await (kind === 'file' ? fileLedger : databaseLedger)(requests);
try {
  await measure(made.store);
} finally {
  await made.remove();
}

async function measure(store) {
  const openedAt = performance.now();
  const ledger = await openLedger(store);
  print('opening the ledger', performance.now() - openedAt);
  const owner = await ledger.join({ run: 'bench', host: 'bench', pid: process.pid });
  const page = await startPage(store);
  try {
    await firstPaint(page.url);
    for (const path of [
      ...['now', 'batches', 'batches?name=name-7', 'batches?state=open', 'money', 'failures'],
      'search?q=absent',
    ]) {
      const [first, again] = [await page.time(path), await page.time(path)];
      print(`GET api/${path}`, first, `again: ${again.toFixed(1)} ms`);
    }
    const share = await sharePolled(page, ledger, owner);
    process.stdout.write(
      `polling on a program that writes: ${(100 * share).toFixed(2)} % of a core\n`,
    );
  } finally {
    await page.stop();
    await ledger.close();
  }
  const { script, style } = await bundlePage();
  const sizes = [script, style].map((text) => Buffer.byteLength(text));
  process.stdout.write(`page.js ${sizes[0]} bytes, page.css ${sizes[1]} bytes\n`);
}

/** From the first byte that is asked for on, in Chromium, if it is installed. */
async function firstPaint(url) {
  const executablePath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
  if (!existsSync(executablePath)) return;
  const { chromium } = await import('playwright-core');
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  try {
    const opened = await browser.newPage();
    await opened.goto(url);
    await opened.getByRole('heading', { name: 'gpt-5-mini' }).first().waitFor();
    print('Now is shown in Chromium', await opened.evaluate('performance.now()'));
    const [painted] = await opened.evaluate(
      "performance.getEntriesByName('first-contentful-paint').map((entry) => entry.startTime)",
    );
    print('first paint in Chromium', painted);
    const clickedAt = performance.now();
    await opened.getByRole('link', { name: 'Batches', exact: true }).click();
    await opened.locator('tbody tr').first().waitFor();
    print('from a click to the list of batches', performance.now() - clickedAt);
  } finally {
    await browser.close();
  }
}

/** The CPU of the server of a page that is open, while a program writes ten times a second. */
async function sharePolled(page, ledger, owner) {
  const before = await page.cpuMilliseconds();
  const startedAt = performance.now();
  let writes = 0;
  while (performance.now() - startedAt < pollSeconds * 1_000) {
    await page.time('changed');
    await page.time('now');
    for (let write = 0; write < pollEvery / 100; write += 1) {
      const fingerprint = new Uint8Array(32).fill(writes % 251);
      writes += 1;
      const ask = { fingerprint, occurrence: writes, queue: 1, cache: true };
      await ledger.admit(owner, [ask]);
      await setTimeout(100);
    }
  }
  const used = (await page.cpuMilliseconds()) - before;
  return used / (performance.now() - startedAt);
}

async function startPage(store) {
  const main = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url));
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', main, 'ui', '--port', '0', '--json', '--store', store],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const startedAt = performance.now();
  const printed = await new Promise((resolve) => child.stdout.once('data', resolve));
  print('starting `batchling ui` from the sources', performance.now() - startedAt);
  const { url } = JSON.parse(String(printed));
  const [, token = ''] = /#token=(.+)$/.exec(url) ?? [];
  const base = new URL('.', url).href.split('#')[0];
  return {
    url,
    async time(path) {
      const askedAt = performance.now();
      const response = await fetch(`${base}api/${path}`, {
        headers: { 'x-batchling-token': token },
      });
      await response.text();
      if (!response.ok) throw new Error(`${path}: ${response.status}`);
      return performance.now() - askedAt;
    },
    /** Of all its threads. A tick is 10 ms on Linux. */
    async cpuMilliseconds() {
      const stat = await readFile(`/proc/${child.pid}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return (Number(fields[11]) + Number(fields[12])) * 10;
    },
    stop() {
      const ended = new Promise((resolve) => child.once('close', resolve));
      child.kill('SIGTERM');
      return ended;
    },
  };
}

function print(what, milliseconds, more = '') {
  process.stdout.write(`${what}: ${milliseconds.toFixed(1)} ms ${more}\n`);
}
