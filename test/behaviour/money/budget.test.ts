import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type BatchifyOptions, batchify, type Clock } from '../../../src/index.ts';
import { resultOf } from '../../support/processes/run-program.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

/** A million tokens of output cost $0.60 in realtime and $0.30 in a batch; the prompts cost next to nothing. */
const request = { model: 'gpt-4o-mini', max_tokens: 1_000_000 };

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

function send(client: OpenAI, content: string, more: object = {}) {
  const messages = [{ role: 'user' as const, content }];
  return client.chat.completions.create({ ...request, messages, ...more });
}

/** Asks rounds of prompts, one after the other, and tells the status and the message of each answer. */
async function askRounds(
  rounds: readonly (readonly string[])[],
  given: BatchifyOptions,
  more: object = {},
) {
  const told: string[] = [];
  const quiet = () => undefined;
  const logger = {
    debug: quiet,
    info: quiet,
    warn: (text: string) => void told.push(text),
    error: quiet,
  };
  const scope = batchify(stage.options({ logger, ...given }));
  const client = stage.openai();
  const outcomes: { status: number; message: string; type?: string | null | undefined }[] = [];
  for (const prompts of rounds) {
    const asked = prompts.map((content) => scope.run(() => send(client, content, more)));
    for (const result of await Promise.allSettled(asked)) {
      if (result.status === 'fulfilled') outcomes.push({ status: 200, message: '' });
      else if (result.reason instanceof OpenAI.APIError) {
        const { status, message, type } = result.reason;
        outcomes.push({ status, message, type });
      } else throw result.reason;
    }
  }
  await scope.close();
  return { outcomes, statuses: outcomes.map(({ status }) => status), told, stats: scope.stats };
}

describe('a budget', () => {
  it('lets a batch out that fits, and none that does not', async () => {
    const fits = await askRounds([['a', 'b']], { budget: 0.7 });
    expect(fits.statuses).toEqual([200, 200]);
    const { outcomes } = await askRounds([['a', 'b']], { budget: 0.5 });
    expect(outcomes).toMatchObject([
      { status: 402, type: 'batchling_budget' },
      { status: 402, type: 'batchling_budget' },
    ]);
    expect(outcomes[0]?.message).toMatch(
      /A batch of 2 requests was not sent: it may cost \$0\.60, and the budget of this run is \$0\.50\./,
    );
    expect(outcomes[0]?.message).toContain('larger budget');
    expect(stage.simulator.meter.total).toBe(2);
  });

  it('counts what was paid, not what was estimated, once the answers are there', async () => {
    const { statuses, stats } = await askRounds([['a'], ['b'], ['c']], { budget: 0.4 });
    expect(statuses).toEqual([200, 200, 200]);
    expect(stats.batches.submitted).toBe(3);
  });

  it('is kept by a client that tries again', async () => {
    const scope = batchify(stage.options({ budget: 0.1 }));
    const client = stage.openai({ maxRetries: 3 });
    await expect(scope.run(() => send(client, 'again'))).rejects.toMatchObject({ status: 402 });
    await scope.close();
    expect(scope.stats.captured).toBe(1);
  });

  it('loses nothing: a run with a larger one goes on', async () => {
    const store = stage.newStore();
    const baseURL = stage.simulator.baseUrl('openai');
    const run = (budget: number) => {
      const options = stage.options({ store, budget, batchSize: 2 });
      return resultOf<number[]>('ask-within-budget', {
        prompts: ['a', 'b', 'c'],
        baseURL,
        options,
      });
    };
    expect(await run(0.4)).toEqual([402, 402, 200]);
    expect(stage.simulator.meter.total).toBe(1);
    expect(await run(0.7)).toEqual([200, 200, 200]);
    expect(stage.simulator.meter.total).toBe(3);
  });

  it('assumes a thousand tokens of output where the request names no maximum', async () => {
    // 1,000 tokens are $0.0003 in a batch.
    const unlimited = { max_tokens: undefined };
    const enough = await askRounds([['a']], { budget: 0.0004 }, unlimited);
    expect(enough.statuses).toEqual([200]);
    const little = await askRounds([['a']], { budget: 0.0002 }, unlimited);
    expect(little.statuses).toEqual([402]);
  });

  it('knows from past batches how long answers are', async () => {
    const store = stage.newStore();
    const unlimited = { max_tokens: undefined };
    await askRounds([['a']], { store }, unlimited);
    const { statuses } = await askRounds([['b']], { store, budget: 0.0002 }, unlimited);
    expect(statuses).toEqual([200]);
  });

  it('learns how long answers are while it runs', async () => {
    let ahead = 0;
    const clock: Clock = {
      now: () => Date.now() + ahead,
      setTimeout: (callback, delay) => setTimeout(callback, delay),
      clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
    };
    // 5,000 tokens are $0.0015 in a batch.
    const usage = { prompt_tokens: 1, completion_tokens: 5_000 };
    stage.simulator.configure({
      answer: () => {
        ahead += 120_000;
        return { choices: [{}], usage };
      },
    });
    const unlimited = { max_tokens: undefined };
    const { statuses } = await askRounds([['a'], ['b']], { budget: 0.002, clock }, unlimited);
    expect(statuses).toEqual([200, 402]);
  });

  it.each([
    ['without a maximum', { max_tokens: undefined }, 0.02],
    ['with one', { max_tokens: 1_000 }, 0.02],
  ])('counts all answers that a request asks for, %s', async (_name, more, budget) => {
    // A hundred answers of 1,000 tokens are $0.03 in a batch.
    const many = await askRounds([['a']], { budget }, { ...more, n: 100 });
    expect(many.statuses).toEqual([402]);
    const few = await askRounds([['a']], { budget }, { ...more, n: 10 });
    expect(few.statuses).toEqual([200]);
  });

  it('knows from past batches how long one answer of several is', async () => {
    const store = stage.newStore();
    const unlimited = { max_tokens: undefined, n: 50 };
    const { stats } = await askRounds([['a']], { store }, unlimited);
    const perMillion = 0.3;
    const each = (stats.tokens.output * perMillion) / 50 / 1_000_000;
    const ask = async (rest: number) => {
      // The run has spent something already.
      const budget = stats.dollars.paid + rest;
      return (await askRounds([['b']], { store, budget }, { ...unlimited, n: 10 })).statuses;
    };
    expect(await ask(9 * each)).toEqual([402]);
    expect(await ask(13 * each)).toEqual([200]);
  });

  it('counts an image as one, whether it is in the request or only linked', async () => {
    // 1,000 tokens are $0.000075 in a batch; a megabyte of text would be $0.026.
    const image = (url: string) => ({
      max_tokens: 1,
      messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
    });
    const inside = image(`data:image/png;base64,${'A'.repeat(1_400_000)}`);
    const linked = image('https://images.example/a.png');
    for (const more of [inside, linked]) {
      expect((await askRounds([['a']], { budget: 0.00007 }, more)).statuses).toEqual([402]);
      expect((await askRounds([['a']], { budget: 0.00009 }, more)).statuses).toEqual([200]);
    }
  });

  it('does not count a model without a known price, and names it once', async () => {
    const { statuses, told } = await askRounds([['a'], ['b']], { budget: 0.01 }, { model: 'own' });
    expect(statuses).toEqual([200, 200]);
    expect(told.filter((text) => text.includes('does not count own of openai'))).toHaveLength(1);
  });

  it('counts realtime calls, and refuses them when it is used up', async () => {
    const { statuses, outcomes, stats } = await askRounds([['a', 'b']], {
      budget: 0.7,
      minBatch: 100,
    });
    expect([...statuses].sort()).toEqual([200, 402]);
    expect(outcomes.find(({ status }) => status === 402)?.message).toMatch(/The call was not sent/);
    expect(stats).toMatchObject({ answered: 2, realtime: 1, failed: 1 });
    expect(stage.simulator.meter.realtime).toBe(1);
  });

  it('takes back what a realtime call was estimated at beyond what it cost', async () => {
    const rounds = [['a'], ['b'], ['c']];
    const { statuses } = await askRounds(rounds, { budget: 0.7, minBatch: 100 });
    expect(statuses).toEqual([200, 200, 200]);
  });

  it('is not used up by a realtime call that was aborted while it waited for its turn', async () => {
    const held: (() => void)[] = [];
    const server = createServer((incoming, response) => {
      const usage = { prompt_tokens: 1, completion_tokens: 1 };
      const answer = () =>
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ choices: [], usage }));
      incoming.resume().once('end', () => (held.length === 0 ? held.push(answer) : answer()));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    const client = stage.openai({ baseURL, maxRetries: 0 });
    // Two calls at once: each may cost $0.60.
    const options = stage.options({ budget: 1.25, minBatch: 100, hosts: { [baseURL]: 'openai' } });
    const scope = batchify({ ...options, realtimeConcurrency: 1 });
    const first = scope.run(() => send(client, 'first'));
    await until(() => held.length === 1, 'the first call');
    const leaving = new AbortController();
    const messages = [{ role: 'user' as const, content: 'second' }];
    const second = scope.run(() =>
      client.chat.completions.create({ ...request, messages }, { signal: leaving.signal }),
    );
    await until(() => scope.stats.captured === 2, 'the second call');
    await scope.flush();
    leaving.abort();
    await expect(second).rejects.toThrow();
    held[0]?.();
    await first;
    const more = [scope.run(() => send(client, 'third')), scope.run(() => send(client, 'fourth'))];
    await Promise.all(more);
    await scope.close();
    expect(scope.stats).toMatchObject({ answered: 3, failed: 0, realtime: 3 });
    server.close().closeAllConnections();
  });

  it('is one for all processes of a run', async () => {
    const options = stage.options({ budget: 0.7 });
    const baseURL = stage.simulator.baseUrl('openai');
    // No batch ends before the second one has asked.
    stage.simulator.hold();
    const run = (prompts: string[]) =>
      resultOf<number[]>(
        'ask-within-budget',
        { prompts, baseURL, options },
        { BATCHLING_RUN: 'together' },
      );
    const running = [run(['a', 'b']), run(['c', 'd'])];
    await Promise.race(running).finally(() => stage.simulator.release());
    const both = await Promise.all(running);
    expect(both.map(([status]) => status).sort()).toEqual([200, 402]);
    expect(stage.simulator.meter.total).toBe(2);
  });
});

it.each([0, -1, Number.NaN, '5 dollars'])('a budget of %s is refused', (budget) => {
  expect(() => batchify({ budget: budget as number })).toThrow(
    expect.objectContaining({ code: 'INVALID_OPTION' }),
  );
});
