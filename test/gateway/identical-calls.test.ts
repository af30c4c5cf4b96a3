import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { Gateway } from '../../src/gateway/gateway.ts';
import { hastyClock } from '../support/clocks/hasty-clock.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { until } from '../support/until.ts';
import { chatRequest } from './start-gateway.ts';

/** The second for which an identical call waits passes when a test says so. */
const { clock, pass, isWaitedFor } = hastyClock(1_000);
let stage: Stage;
let gateway: Gateway;

beforeAll(async () => {
  stage = await openStage();
  const options = { ...stage.options(), display: 'none', clock };
  gateway = await Gateway.start({ port: 0, host: '127.0.0.1', options });
});

afterEach(() => stage.simulator.release());

afterAll(async () => {
  // One that leaves takes its process along, which other files share.
  await gateway.close();
  await stage.close();
});

function ask(content: string, signal?: AbortSignal): Promise<Response> {
  const url = `${gateway.baseUrls.openai}/chat/completions`;
  return fetch(url, { ...chatRequest(content), ...(signal && { signal }) });
}

/** Asks twice; the second call waits for the first, which is in a batch that does not end. */
async function askTwice(content: string, signal?: AbortSignal) {
  stage.simulator.hold();
  const before = batches();
  const first = ask(content, signal);
  first.catch(() => undefined);
  await until(() => batches() > before, 'a batch');
  const second = ask(content);
  await until(isWaitedFor, 'the second call to wait');
  return { first, second };
}

const batches = () => stage.simulator.countRequests('POST', '/v1/batches');
const id = ({ headers }: Response) => headers.get('x-batchling-request-id');

it('are samples where both connections stay open, and later ones begin with the first', async () => {
  const { first, second } = await askTwice('same');
  const before = batches();
  pass();
  await until(() => batches() > before, 'a batch of its own');
  stage.simulator.release();
  const ids = [id(await first), id(await second)];
  expect(new Set(ids).size).toBe(2);
  const later = await ask('same');
  expect(later.headers.get('x-batchling-source')).toBe('ledger');
  expect(ids).toContain(id(later));
});

it('are one request as soon as the old connection is closed', async () => {
  const client = new AbortController();
  const billed = stage.simulator.meter.total;
  const { second } = await askTwice('at once', client.signal);
  client.abort();
  await until(() => !isWaitedFor(), 'the second call to go on');
  stage.simulator.release();
  expect((await second).status).toBe(200);
  expect(stage.simulator.meter.total - billed).toBe(1);
});
