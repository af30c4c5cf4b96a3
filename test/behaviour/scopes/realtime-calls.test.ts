import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type BatchifyOptions, batchify } from '../../../src/index.ts';
import { chatRequest } from '../../support/ask.ts';
import { watchCall } from '../../support/is-told.ts';
import { type HoldingServer, startHoldingServer } from '../../support/servers/holding-server.ts';
import { received } from '../../support/servers/http-exchange.ts';
import { soon, until } from '../../support/until.ts';

let server: HoldingServer;

beforeEach(async () => {
  server = await startHoldingServer();
});
afterEach(() => server.close());

type Ask = (prompt: string) => Promise<number | undefined>;

const byFetch: Ask = async (prompt) =>
  (await fetch(`${server.baseUrl}/chat/completions`, chatRequest(prompt))).status;

const byNodeHttp: Ask = async (prompt) => (await received(open(prompt))).status;

function open(prompt: string) {
  const { body, ...options } = chatRequest(prompt);
  return request(`${server.baseUrl}/chat/completions`, options).end(body);
}

const clients: [name: string, ask: Ask][] = [
  ['fetch', byFetch],
  ['node:http', byNodeHttp],
];

/** Everything goes out as a realtime call. */
function options(given: BatchifyOptions = {}): BatchifyOptions {
  const hosts = { [server.baseUrl]: 'openai' } as const;
  return { store: ':memory:', cache: false, hosts, window: '5ms', minBatch: 100, ...given };
}

const outcomeOf = (asked: Promise<number | undefined>) =>
  asked.catch((error: unknown) => error as Error);

async function holds(count: number): Promise<void> {
  await until(() => server.held.length === count, `${count} calls at the provider`);
}

/** Long enough for one more call to arrive, if there were one on its way. */
const aWhile = () => sleep(30);

describe.each(clients)('realtime calls by %s', (name, ask) => {
  it('are no more at once than realtimeConcurrency', async () => {
    const prompts = ['a', 'b', 'c', 'd', 'e'].map((prompt) => `${name} ${prompt}`);
    const scope = batchify(options({ realtimeConcurrency: 2 }));
    const asked = scope.run(() => Promise.all(prompts.map(ask)));
    await holds(2);
    await aWhile();
    while (server.seen < 5) {
      const { seen } = server;
      server.answer();
      await until(() => server.seen > seen, 'the next call');
    }
    server.answer();
    server.answer();
    expect(await soon(asked)).toEqual([200, 200, 200, 200, 200]);
    expect(server.most).toBe(2);
    await scope.close();
  });

  it('are waited for by close, and counted', async () => {
    const scope = batchify(options());
    const asked = scope.run(() => Promise.all([ask(`${name} one`), ask(`${name} two`)]));
    await until(() => scope.stats.captured === 2, 'the calls');
    const atClose = scope.close().then(() => scope.stats);
    await holds(2);
    await aWhile();
    server.answer();
    server.answer(404);
    const { captured, answered, realtime } = await soon(atClose);
    expect({ captured, answered, realtime }).toEqual({ captured: 2, answered: 2, realtime: 2 });
    expect((await asked).sort()).toEqual([200, 404]);
  });

  it('that wait for their turn stay unanswered when the scope throws, and do not go out', async () => {
    const asked: Promise<number | Error | undefined>[] = [];
    const failed = batchify(
      async () => {
        for (const prompt of ['first', 'second', 'third']) {
          asked.push(outcomeOf(ask(`${name} ${prompt}`)));
        }
        await holds(1);
        throw new Error('a mistake of the program');
      },
      options({ realtimeConcurrency: 1 }),
    );
    const calls = asked.map(watchCall);
    await expect(failed).rejects.toThrow('a mistake');
    server.answer();
    expect(await soon(asked[0] as Promise<unknown>)).toBe(200);
    await aWhile();
    expect(calls.map(({ isTold }) => isTold)).toEqual([true, false, false]);
    expect(server.seen).toBe(1);
  });

  it('that wait for their turn are rejected when the scope is aborted', async () => {
    const controller = new AbortController();
    const scope = batchify(options({ realtimeConcurrency: 1, signal: controller.signal }));
    const asked = scope.run(() => ['first', 'second'].map((prompt) => outcomeOf(ask(prompt))));
    await holds(1);
    controller.abort(new Error('enough'));
    expect(String(await soon(asked[1] as Promise<unknown>))).toContain('enough');
    server.answer();
    await soon(Promise.all(asked));
    expect(server.seen).toBe(1);
  });

  it('that wait for their turn get 499 when the scope is cancelled; later ones go out', async () => {
    const scope = batchify(options({ realtimeConcurrency: 1 }));
    const asked = scope.run(() => ['first', 'second'].map((prompt) => ask(`${name} ${prompt}`)));
    await holds(1);
    await scope.cancel();
    expect(await soon(asked[1] as Promise<unknown>)).toBe(499);
    const later = scope.run(() => ask(`${name} later`));
    server.answer();
    expect(await soon(asked[0] as Promise<unknown>)).toBe(200);
    await holds(1);
    server.answer();
    expect(await soon(later)).toBe(200);
    await scope.close();
  });

  it('free their place when they fail', async () => {
    const scope = batchify(options({ realtimeConcurrency: 1 }));
    const asked = scope.run(() =>
      ['first', 'second'].map((prompt) => outcomeOf(ask(`${name} ${prompt}`))),
    );
    await holds(1);
    server.drop();
    expect(await soon(asked[0] as Promise<unknown>)).toBeInstanceOf(Error);
    await holds(1);
    server.answer();
    expect(await soon(asked[1] as Promise<unknown>)).toBe(200);
    await soon(scope.close());
  });
});

it('a call by fetch that is on its way is rejected when the scope is aborted', async () => {
  const controller = new AbortController();
  const scope = batchify(options({ signal: controller.signal }));
  const asked = scope.run(() => outcomeOf(byFetch('on its way')));
  await holds(1);
  const reason = new Error('enough');
  controller.abort(reason);
  expect(await soon(asked)).toBe(reason);
  await holds(0);
});

it('a client of node:http that gives up makes room for the next', async () => {
  const scope = batchify(options({ realtimeConcurrency: 1 }));
  const first = scope.run(() => open('given up').on('error', () => undefined));
  const second = scope.run(() => open('given up before its turn').on('error', () => undefined));
  await holds(1);
  const third = scope.run(() => byNodeHttp('patient'));
  await until(() => scope.stats.captured === 3, 'the calls');
  second.destroy();
  first.destroy();
  await until(() => server.seen === 2, 'the next call');
  await holds(1);
  server.answer();
  expect(await soon(third)).toBe(200);
  await soon(scope.close());
  expect(server.seen).toBe(2);
});
