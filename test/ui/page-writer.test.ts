import { afterEach, beforeEach, expect, it } from 'vitest';
import { type PageProcess, startPage } from '../browser/start-page.ts';
import { type AskInput, startAsker } from '../support/processes/asker.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { soon, until } from '../support/until.ts';

const secret = 'sk-secret-of-the-test';

let stage: Stage;
let store: string;
let page: PageProcess;

beforeEach(async () => {
  stage = await openStage();
  store = stage.newStore();
});
afterEach(async () => {
  await page.stop();
  await stage.close();
});

async function open(): Promise<void> {
  page = await startPage(store, ['--write'], { OPENAI_API_KEY: secret });
}

async function ask(path: string, method = 'GET') {
  const { origin, hash } = new URL(page.url);
  const headers = { 'x-batchling-token': decodeURIComponent(hash.slice('#token='.length)) };
  const response = await fetch(`${origin}/api/${path}`, { method, headers });
  expect(response.status).toBe(200);
  return (await response.json()) as Record<string, unknown>;
}

async function newestBatch(): Promise<{ id: string; state: string; answered: number }> {
  const { batches } = await ask('batches');
  return (batches as [{ id: string; state: string; answered: number }])[0];
}

/** A program that waits for a batch, which the provider holds. */
async function startWaiting() {
  const { simulator } = stage;
  simulator.hold();
  const input: AskInput = {
    ...{ sdk: 'openai', prompts: ['red', 'green'], apiKey: secret },
    baseURL: simulator.baseUrl('openai'),
    options: stage.options({ store }),
  };
  const asker = await startAsker(input);
  await until(() => simulator.countRequests('GET', /batches/) > 0, 'a poll');
  await open();
  return asker;
}

it('the page with --write cancels a batch at its provider', async () => {
  const asker = await startWaiting();
  const { id } = await newestBatch();
  const { text, failed } = await ask(`batches/${id}/cancel`, 'POST');
  expect(text).toMatch(/^bl_\w+ is being cancelled at openai; process \d+ on \S+ is told\.$/);
  expect(failed).toBe(false);
  expect(stage.simulator.countRequests('POST', /cancel$/)).toBe(1);
  stage.simulator.release();
  const { output } = await soon(asker.ended);
  expect(output?.heard.map(({ status }) => status)).toEqual([499, 499]);
  const over = await ask(`batches/${id}/cancel`, 'POST');
  expect(over.text).toMatch(/is over already: .*[^.]\.$/);
});

it('the page with --write collects what a dead program has left, and says when there is nothing', async () => {
  const asker = await startWaiting();
  const others = await ask('collect', 'POST');
  expect(others.text).toContain('all that are open belong to programs that run');
  asker.send('SIGKILL');
  await asker.ended;
  stage.simulator.release();
  await expect
    .poll(async () => {
      await ask('collect', 'POST');
      return newestBatch();
    })
    .toMatchObject({ state: 'ended', answered: 2 });
  expect(await ask('collect', 'POST')).toEqual({
    text: 'No batch is open: there is nothing to collect.',
    failed: false,
  });
});
