import type OpenAI from 'openai';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type BatchifyOptions, batchify } from '../../../src/index.ts';
import { loadDriver } from '../../../src/ledger/sqlite/connection/driver.ts';
import type { SimulatedRequest } from '../../../src/simulator/index.ts';
import { ask } from '../../support/ask.ts';
import { hearStderr } from '../../support/heard.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { together } from '../../support/together.ts';
import { soon, until } from '../../support/until.ts';

let stage: Stage;

beforeEach(async () => {
  stage = await openStage();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await stage.close();
});

const quiet = { debug() {}, info() {}, warn() {}, error() {} };
const bad = { error: { message: 'Invalid schema', type: 'invalid_request_error', code: 'bad' } };
const badSchema = ({ body }: SimulatedRequest) =>
  'response_format' in body ? { status: 400, body: bad } : undefined;

function askFor(client: OpenAI, content: string, schema?: object) {
  return client.chat.completions.create({
    model: 'gpt-test',
    messages: [{ role: 'user', content }],
    ...(schema && {
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'Invoice', schema: { type: 'object', ...schema } },
      },
    }),
  });
}

function prompts(count: number): string[] {
  return Array.from({ length: count }, (_, at) => `Question ${at}`);
}

const statusOf = (one: PromiseSettledResult<unknown>) =>
  one.status === 'fulfilled' ? 200 : (one.reason as { status: number }).status;
const statuses = (results: readonly PromiseSettledResult<unknown>[]) =>
  new Set(results.map(statusOf));

function creates(): number {
  return stage.simulator.countRequests('POST', '/v1/batches');
}
function calls(): number {
  return stage.simulator.countRequests('POST', '/v1/chat/completions');
}

async function run(
  program: (client: OpenAI) => Promise<unknown>,
  given: BatchifyOptions = {},
): Promise<string[]> {
  const heard = hearStderr();
  const client = stage.openai({ maxRetries: 0 });
  const options = stage.options({ canary: 'call', display: 'plain', ...given });
  await soon(batchify(() => program(client), options));
  return heard.lines();
}

describe('a canary as an ordinary call', () => {
  it('stops 5,000 requests with a bad schema after one call, and a kind beside them goes on', async () => {
    stage.simulator.configure({ answer: badSchema });
    let refused: PromiseSettledResult<unknown>[] = [];
    let good: PromiseSettledResult<unknown>[] = [];
    const said = await run(async (client) => {
      const all = (count: number, schema?: object) =>
        Promise.allSettled(prompts(count).map((one) => askFor(client, one, schema)));
      [refused, good] = await Promise.all([all(5_000, {}), all(10)]);
    }, together(5_010));
    expect(refused).toHaveLength(5_000);
    expect(statuses(refused)).toEqual(new Set([400]));
    expect(statuses(good)).toEqual(new Set([200]));
    expect({ calls: calls(), creates: creates() }).toEqual({ calls: 2, creates: 1 });
    expect(stage.simulator.meter.batched).toBe(9);
    const words = said.filter((line) => line.includes('Invalid schema'));
    expect(words).toEqual([
      expect.stringMatching(
        /\(schema Invoice\): 400 Invalid schema\. 4,999 other calls like it were not sent/,
      ),
    ]);
  });

  it('serves its caller and is not sent again', async () => {
    const said = await run((client) => Promise.all(prompts(10).map((one) => ask(client, one))));
    expect({ calls: calls(), creates: creates() }).toEqual({ calls: 1, creates: 1 });
    expect(stage.simulator.meter.executedTwice()).toEqual([]);
    expect(stage.simulator.meter.total).toBe(10);
    expect(said).toContainEqual(expect.stringContaining('checked one request of gpt-test: 200'));
  });

  it('is what true means, and needs none where a batch of one was answered before', async () => {
    const store = stage.newStore();
    await run((client) => ask(client, 'one'), { store, canary: 'batch' });
    await run((client) => Promise.all(prompts(3).map((one) => ask(client, one))), { store });
    expect(calls()).toBe(0);
    await run((client) => Promise.all(prompts(3).map((one) => ask(client, one, 'other'))), {
      store,
      canary: true,
    });
    expect(calls()).toBe(1);
  });

  it.each([429, 500])('that meets status %s lets the others go on at once', async (status) => {
    const path = '/v1/chat/completions';
    stage.simulator.faults.add({
      method: 'POST',
      path,
      times: 2,
      action: { kind: 'status', status },
    });
    await run((client) => Promise.all(prompts(6).map((one) => ask(client, one))));
    expect(stage.simulator.meter.batched).toBe(5);
    expect(stage.simulator.meter.executedTwice()).toEqual([]);
  });

  it('that is too large says nothing about its kind: the next one is tried', async () => {
    const path = '/v1/chat/completions';
    const action = { kind: 'status', status: 413 } as const;
    stage.simulator.faults.add({ method: 'POST', path, times: 1, action });
    let results: PromiseSettledResult<unknown>[] = [];
    await run(async (client) => {
      results = await Promise.allSettled(prompts(5).map((one) => ask(client, one)));
    });
    expect(results.map(statusOf)).toEqual([413, 200, 200, 200, 200]);
    expect({ calls: calls(), batched: stage.simulator.meter.batched }).toEqual({
      calls: 2,
      batched: 3,
    });
  });

  it('whose model has no flex tier is tried again as an ordinary call, before the batch', async () => {
    stage.simulator.configure({
      answer: badSchema,
      flex: { openai: { refusedModels: ['gpt-test'] } },
    });
    let results: PromiseSettledResult<unknown>[] = [];
    await run(
      async (client) => {
        results = await Promise.allSettled(prompts(50).map((one) => askFor(client, one, {})));
      },
      { lane: 'flex' },
    );
    expect(statuses(results)).toEqual(new Set([400]));
    // One call in flex, one without a tier.
    expect({ calls: calls(), creates: creates() }).toEqual({ calls: 2, creates: 0 });
  });

  it('that finds no connection lets the others go on at once', async () => {
    const path = '/v1/chat/completions';
    stage.simulator.faults.add({ method: 'POST', path, action: { kind: 'reset' } });
    await run((client) => Promise.all(prompts(6).map((one) => ask(client, one))));
    expect(stage.simulator.meter.total).toBe(6);
    expect(stage.simulator.meter.batched).toBe(5);
  });

  it.each([401, 403, 404])('that is refused with %s tells all of its kind', async (status) => {
    const path = '/v1/chat/completions';
    const body = { error: { message: 'No.' } };
    const action = { kind: 'status', status, body } as const;
    stage.simulator.faults.add({ method: 'POST', path, action });
    let results: PromiseSettledResult<unknown>[] = [];
    await run(async (client) => {
      results = await Promise.allSettled(prompts(5).map((one) => ask(client, one)));
    });
    expect(statuses(results)).toEqual(new Set([status]));
    expect(creates()).toBe(0);
  });

  it('whose caller leaves while it is on the wire is still the canary', async () => {
    const path = '/v1/chat/completions';
    stage.simulator.faults.add({ method: 'POST', path, action: { kind: 'delay', ms: 100 } });
    const leave = new AbortController();
    await run(async (client) => {
      const first = ask(client, 'I will leave', 'gpt-test', { signal: leave.signal });
      const rest = Promise.all(prompts(5).map((one) => ask(client, one)));
      await until(() => calls() === 1);
      leave.abort();
      await expect(first).rejects.toThrow();
      await rest;
    });
    expect({ calls: calls(), creates: creates() }).toEqual({ calls: 1, creates: 1 });
  });

  it('costs its part of the budget, and one that has no room is told so', async () => {
    let results: PromiseSettledResult<unknown>[] = [];
    await run(
      async (client) => {
        results = await Promise.allSettled(
          prompts(3).map((one) => ask(client, one, 'gpt-4o-mini')),
        );
      },
      { budget: 0.000001 },
    );
    expect(statuses(results)).toEqual(new Set([402]));
    expect({ calls: calls(), creates: creates() }).toEqual({ calls: 0, creates: 0 });
  });

  it.each([true, 'call', 'batch'] as const)(
    '%s tries streams, too, and lets the others go on',
    async (canary) => {
      const texts: string[] = [];
      await run(
        (client) =>
          Promise.all(
            prompts(5).map(async (content) => {
              const messages = [{ role: 'user' as const, content }];
              const stream = await client.chat.completions.create({
                model: 'gpt-test',
                messages,
                stream: true,
              });
              let text = '';
              for await (const { choices } of stream) text += choices[0]?.delta.content ?? '';
              texts.push(text);
            }),
          ),
        { canary },
      );
      expect(texts.filter((text) => text.length > 0)).toHaveLength(5);
      expect(stage.simulator.meter.total).toBe(5);
    },
  );

  it('holds nothing back that is too little for a batch', async () => {
    await run((client) => Promise.all(prompts(3).map((one) => ask(client, one))), { minBatch: 5 });
    expect({ calls: calls(), creates: creates() }).toEqual({ calls: 3, creates: 0 });
  });

  it('goes ahead of the others in the lane of ordinary calls, too', async () => {
    stage.simulator.configure({ answer: badSchema });
    let refused: PromiseSettledResult<unknown>[] = [];
    await run(
      async (client) => {
        refused = await Promise.allSettled(prompts(20).map((one) => askFor(client, one, {})));
      },
      { lane: 'realtime' },
    );
    expect(statuses(refused)).toEqual(new Set([400]));
    expect({ calls: calls(), creates: creates() }).toEqual({ calls: 1, creates: 0 });
  });
});

describe('calls that wait for a canary', () => {
  it('end at their deadline, unsent', async () => {
    const path = '/v1/chat/completions';
    stage.simulator.faults.add({ method: 'POST', path, action: { kind: 'delay', ms: 400 } });
    let results: PromiseSettledResult<unknown>[] = [];
    await run(
      async (client) => {
        results = await Promise.allSettled(prompts(4).map((one) => ask(client, one)));
      },
      { deadline: '150ms' },
    );
    expect(statuses(results)).toEqual(new Set([504]));
    expect(creates()).toBe(0);
  });

  it('are aborted by the signal of their scope', async () => {
    const path = '/v1/chat/completions';
    stage.simulator.faults.add({ method: 'POST', path, action: { kind: 'delay', ms: 200 } });
    const stop = new AbortController();
    const client = stage.openai({ maxRetries: 0 });
    const scope = batchify(stage.options({ canary: true, signal: stop.signal }));
    const waiting = scope.run(() => Promise.allSettled(prompts(4).map((one) => ask(client, one))));
    await until(() => calls() === 1);
    stop.abort(new Error('enough'));
    expect((await soon(waiting)).every(({ status }) => status === 'rejected')).toBe(true);
    await soon(scope.close());
    expect(creates()).toBe(0);
  });

  it('are dropped with the scope whose function throws', async () => {
    const path = '/v1/chat/completions';
    stage.simulator.faults.add({ method: 'POST', path, action: { kind: 'delay', ms: 200 } });
    const client = stage.openai({ maxRetries: 0 });
    const failed = batchify(
      async () => {
        for (const one of prompts(4)) void ask(client, one).catch(() => undefined);
        await until(() => calls() === 1);
        throw new Error('enough');
      },
      stage.options({ canary: true }),
    );
    await expect(soon(failed)).rejects.toThrow('enough');
    expect(creates()).toBe(0);
  });

  it('of kinds that were refused are told when the ledger breaks', async () => {
    stage.simulator.configure({ answer: badSchema });
    const client = stage.openai({ maxRetries: 0 });
    const store = stage.newStore();
    const scope = batchify(stage.options({ canary: true, store, window: '300ms', logger: quiet }));
    const kinds = ['Invoice', 'Receipt', 'Letter'].map((title) => ({ title }));
    const asked = (prompt: string) =>
      Promise.allSettled(kinds.map((kind) => askFor(client, prompt, kind)));
    await scope.run(() => asked('first'));
    const again = scope.run(() => asked('again'));
    const { DatabaseSync } = await loadDriver();
    const database = new DatabaseSync(store, { timeout: 10_000 });
    const admitted = database.prepare('SELECT count(*) AS count FROM request');
    await until(
      () => (admitted.get() as { count: number }).count === 6,
      'the calls to be admitted',
    );
    database.exec('ALTER TABLE request RENAME TO lost');
    database.close();
    expect(statuses(await soon(again))).toEqual(new Set([400]));
    await soon(scope.close());
  });

  it('are answered with the whole scope when it closes', async () => {
    const client = stage.openai({ maxRetries: 0 });
    const scope = batchify(stage.options({ canary: true, window: '10m', maxWindow: '10m' }));
    const waiting = scope.run(() => Promise.all(prompts(4).map((one) => ask(client, one))));
    await soon(scope.close());
    expect(await waiting).toHaveLength(4);
  });
});
