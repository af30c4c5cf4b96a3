import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type BatchifyOptions, batchify } from '../../../src/index.ts';
import { loadDriver } from '../../../src/ledger/sqlite/connection/driver.ts';
import { ask, askClaude, askGemini } from '../../support/ask.ts';
import { patientClock } from '../../support/clocks/patient-clock.ts';
import { vertexClient } from '../../support/programs/parts/vertex-client.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { soon, until } from '../../support/until.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
beforeEach(() => stage.simulator.reset());
afterEach(() => vi.unstubAllEnvs());
afterAll(() => stage.close());

const model = 'gpt-5-mini';
const flex = { lane: 'flex' } as const;
const tiers = () => Object.fromEntries(stage.simulator.meter.countByTier());
const messages = [{ role: 'user' as const, content: 'cat' }];
const quiet = { debug() {}, info() {}, warn() {}, error() {} };

/** A scope as of a launch of its own. */
function launch<T>(run: string, work: () => Promise<T>, options: BatchifyOptions): Promise<T> {
  vi.stubEnv('BATCHLING_RUN', run);
  return batchify(work, options);
}

describe('the tier', () => {
  it('that an answer names decides about its price, and none means full price', async () => {
    const said: string[] = [];
    const logger = { ...quiet, warn: (text: string) => said.push(text) };
    const paid = async (settings: object) => {
      said.length = 0;
      stage.simulator.configure({ flex: { openai: settings } });
      const scope = batchify(stage.options({ ...flex, logger }));
      await scope.run(() => Promise.all([1, 2].map(() => ask(stage.openai(), 'cat', model))));
      await scope.close();
      return scope.stats;
    };
    const half = await paid({});
    expect(half.dollars.saved).toBeCloseTo(half.dollars.paid, 12);
    expect(said).toEqual([]);
    for (const settings of [{ servedAs: 'standard' }, { echoed: false }]) {
      const full = await paid(settings);
      expect(said).toEqual([
        expect.stringMatching(/openai .*gpt-5-mini.*another tier or none.*full price/),
      ]);
      expect(full.dollars.paid).toBeCloseTo(2 * half.dollars.paid, 12);
      expect(full.dollars).toMatchObject({ saved: 0, flex: full.dollars.paid });
    }
  });

  it.each(['batch', 'flex', 'realtime'] as const)(
    'that a body has chosen stays in the lane %s',
    async (lane) => {
      const create = { model, messages, service_tier: 'priority' } as const;
      const scope = batchify(stage.options({ lane, logger: quiet }));
      await scope.run(() => stage.openai().chat.completions.create(create));
      await scope.close();
      expect(tiers()).toEqual({ priority: 1 });
      expect(scope.stats.bypassed).toBe(lane === 'realtime' ? 0 : 1);
    },
  );

  it.each([
    ['azure', { 'x-ms-service-tier': 'priority' }],
    ['vertex', { 'x-vertex-ai-llm-shared-request-type': 'priority' }],
    ['vertex', { 'x-vertex-ai-llm-request-type': 'dedicated' }],
  ] as const)('that a header to %s has chosen (%o) stays in all lanes', async (name, headers) => {
    const baseURL = stage.simulator.baseUrl(name);
    const hosts = { [baseURL]: name };
    const azure = { deployments: { [model]: 'batch' } };
    const providers = { azure, vertex: { bucket: 'gs://mine' } };
    const asking = {
      azure: () => ask(new OpenAI({ apiKey: 'k', baseURL, defaultHeaders: headers }), 'cat', model),
      vertex: () => {
        const httpOptions = { baseUrl: baseURL, headers };
        const client = vertexClient(baseURL, 'key', { location: 'global', httpOptions });
        return askGemini(client, 'cat', 'gemini-2.5-flash');
      },
    };
    const bypassed = [];
    for (const lane of ['batch', 'flex', 'realtime'] as const) {
      const scope = batchify(stage.options({ lane, hosts, providers, logger: quiet }));
      await scope.run(asking[name]);
      await scope.close();
      bypassed.push(scope.stats.bypassed);
    }
    expect(bypassed).toEqual([1, 1, 0]);
    expect(tiers()).not.toHaveProperty('batch');
    expect(tiers()).not.toHaveProperty('flex');
  });

  it('that a body has chosen and a model refuses says nothing about flex', async () => {
    const refusal = { message: 'Invalid service_tier argument', param: 'service_tier' };
    const action = { kind: 'status', status: 400, body: { error: refusal } } as const;
    stage.simulator.faults.add({ path: /chat\/completions$/, action });
    const client = stage.openai({ maxRetries: 0 });
    await batchify(
      async () => {
        const dear = { model, messages, service_tier: 'priority' } as const;
        await expect(client.chat.completions.create(dear)).rejects.toMatchObject({ status: 400 });
        await ask(client, 'cat', model);
      },
      stage.options({ ...flex, logger: quiet }),
    );
    expect(tiers()).toEqual({ flex: 1 });
  });

  it('flex of a body is that of the flex lane: one answer serves both, and a late call goes without', async () => {
    const client = stage.openai();
    const options = stage.options(flex);
    const asking = () => client.chat.completions.create({ model, messages, service_tier: 'flex' });
    await launch('first', asking, options);
    await launch('second', () => ask(client, 'cat', model), options);
    expect(tiers()).toEqual({ flex: 1 });
    stage.simulator.configure({ flex: { openai: { full: 'always' } } });
    const late = stage.options({ ...flex, deadline: '200ms', onDeadline: 'realtime' });
    await launch('third', asking, late);
    expect(tiers()).toEqual({ flex: 1, standard: 1 });
  });

  it.each([{ lane: 'realtime' }, { minBatch: 2 }] as const)(
    'flex of a body is half the price in an ordinary call, too (%o)',
    async (given) => {
      const scope = batchify(stage.options(given));
      const create = { model, messages, service_tier: 'flex' } as const;
      await scope.run(() => stage.openai().chat.completions.create(create));
      await scope.close();
      const { paid, saved } = scope.stats.dollars;
      expect(tiers()).toEqual({ flex: 1 });
      expect(saved).toBeCloseTo(paid, 12);
    },
  );

  it('that a model does not have: its calls are batched, said once, and the next run knows', async () => {
    stage.simulator.configure({ flex: { openai: { refusedModels: [model] } } });
    const said: string[] = [];
    const logger = { ...quiet, warn: (text: string) => said.push(text) };
    const options = stage.options({ ...flex, logger });
    const asking = (names: string[]) => () =>
      Promise.all(names.map((name) => ask(stage.openai(), name, model)));
    await launch('first', asking(['one', 'two', 'three']), options);
    const { refusals } = stage.simulator.meter;
    expect(tiers()).toEqual({ batch: 3 });
    const before = refusals.length;
    await launch('second', asking(['four']), options);
    expect(refusals).toHaveLength(before);
    expect(tiers()).toEqual({ batch: 4 });
    expect(said.filter((text) => text.includes('no flex tier'))).toHaveLength(2);
  });

  it('that a model does not have: no queue of that model pays the full price instead', async () => {
    const client = stage.openai();
    const options = stage.options({ ...flex, logger: quiet });
    const first = batchify(options);
    // Another window makes another queue. Both are open before the model loses its tier.
    const second = batchify({ ...options, window: '30ms' });
    await Promise.all([first, second].map((one) => one.run(() => ask(client, 'cat', model))));
    stage.simulator.configure({ flex: { openai: { refusedModels: [model] } } });
    await first.run(() => ask(client, 'dog', model));
    await second.run(() => Promise.all(['cow', 'hen'].map((name) => ask(client, name, model))));
    await Promise.all([first.close(), second.close()]);
    expect(tiers()).toEqual({ flex: 2, batch: 3 });
    expect(stage.simulator.meter.refusals).toHaveLength(1);
  });

  it('of Gemini is asked for in the body, and of Azure, too', async () => {
    const { simulator } = stage;
    const google = new GoogleGenAI({
      apiKey: 'k',
      httpOptions: { baseUrl: simulator.baseUrl('google') },
    });
    const azure = new OpenAI({ apiKey: 'k', baseURL: simulator.baseUrl('azure') });
    const hosts = {
      [simulator.baseUrl('google')]: 'google',
      [simulator.baseUrl('azure')]: 'azure',
    } as const;
    const scope = batchify(stage.options({ ...flex, hosts }));
    await scope.run(async () => {
      expect(await askGemini(google, 'cat', 'gemini-2.5-flash')).toContain('"cat"');
      expect(await ask(azure, 'dog', 'gpt-4o')).toContain('"dog"');
    });
    await scope.close();
    expect(tiers()).toEqual({ flex: 2 });
    expect(scope.stats).toMatchObject({ flex: 2, answered: 2, failed: 0 });
  });

  it('of Vertex is asked for by headers, in the location "global" only', async () => {
    const baseURL = stage.simulator.baseUrl('vertex');
    const client = vertexClient(baseURL, 'key', { location: 'global' });
    const options = stage.options({ ...flex, hosts: { [baseURL]: 'vertex' } });
    await batchify(() => askGemini(client, 'cat', 'gemini-2.5-flash'), options);
    expect(tiers()).toEqual({ flex: 1 });
  });
});

describe('the realtime lane', () => {
  it('sends ordinary calls of any provider through the ledger', async () => {
    const options = stage.options({ lane: 'realtime' });
    const asking = () =>
      Promise.all([ask(stage.openai(), 'cat', model), askClaude(stage.anthropic(), 'dog')]);
    const answers = await launch('first', asking, options);
    expect(tiers()).toEqual({ standard: 2 });
    expect(await launch('second', asking, options)).toEqual(answers);
    expect(stage.simulator.meter.total).toBe(2);
  });

  it('gives n identical calls n samples, and a later run those', async () => {
    const options = stage.options({ lane: 'realtime' });
    const asking = () => Promise.all([1, 2, 3].map(() => ask(stage.openai(), 'the same', model)));
    const answers = await launch('first', asking, options);
    expect(new Set(answers).size).toBe(3);
    expect(await launch('second', asking, options)).toEqual(answers);
  });

  it('tells its callers where the answer came from, and streams what was asked as a stream', async () => {
    const client = stage.openai();
    const [source, text] = await batchify(
      async () => {
        const { response } = await client.chat.completions
          .create({ model, messages })
          .withResponse();
        const stream = client.chat.completions.stream({ model, messages });
        return [response.headers.get('x-batchling-source'), await stream.finalContent()];
      },
      stage.options({ lane: 'realtime' }),
    );
    expect(source).toBe('realtime');
    expect(text).toContain('"cat"');
  });

  it('passes errors of the provider on, and does not serve them to a later run', async () => {
    const action = { kind: 'status', status: 400, body: { error: { message: 'no' } } } as const;
    stage.simulator.faults.add({ path: /chat\/completions$/, action });
    const options = stage.options({ lane: 'realtime' });
    const client = stage.openai({ maxRetries: 0 });
    const first = launch('first', () => ask(client, 'cat', model), options);
    await expect(first).rejects.toMatchObject({ status: 400 });
    expect(await launch('second', () => ask(client, 'cat', model), options)).toContain('"cat"');
  });
});

describe('a call of a lane', () => {
  it('that is aborted while it is on the wire is paid once: the next one gets its answer', async () => {
    stage.simulator.configure({ flex: { openai: { delay: 300 } } });
    const client = stage.openai({ maxRetries: 0 });
    const scope = batchify(stage.options(flex));
    const user = new AbortController();
    await scope.run(async () => {
      const asked = ask(client, 'cat', model, { signal: user.signal });
      await until(() => stage.simulator.meter.mostAtOnce() === 1, 'the call to be sent');
      user.abort();
      await expect(asked).rejects.toThrow();
      expect(await ask(client, 'cat', model)).toContain('"cat"');
    });
    await scope.close();
    expect(stage.simulator.meter.total).toBe(1);
  });

  it('that waits for its turn and is aborted is never sent', async () => {
    stage.simulator.configure({ flex: { openai: { delay: 200 } } });
    const client = stage.openai({ maxRetries: 0 });
    const user = new AbortController();
    const scope = batchify(stage.options({ ...flex, realtimeConcurrency: 1 }));
    await scope.run(async () => {
      const first = ask(client, 'one', model);
      await until(() => stage.simulator.meter.mostAtOnce() === 1, 'the first call to be sent');
      const second = ask(client, 'two', model, { signal: user.signal });
      user.abort();
      await expect(second).rejects.toThrow();
      await first;
    });
    await scope.close();
    expect(stage.simulator.meter.total).toBe(1);
  });

  it('that is on the wire at its deadline is told what becomes of it', async () => {
    stage.simulator.configure({ flex: { openai: { delay: 60_000 } } });
    const client = stage.openai({ maxRetries: 0 });
    const { clock, skipHours } = patientClock();
    const options = stage.options({ ...flex, clock, deadline: '1h' });
    const asked = batchify(() => ask(client, 'cat', model), options);
    const told = expect(asked).rejects.toThrow(
      /on the wire.*kept if it comes before the program ends/,
    );
    await until(() => stage.simulator.meter.mostAtOnce() === 1, 'the call to be sent');
    skipHours(1);
    await soon(told);
  });

  it('whose client loses patience is re-joined by its retry', async () => {
    stage.simulator.configure({ flex: { openai: { delay: 400 } } });
    const client = stage.openai({ timeout: 100, maxRetries: 2 });
    expect(await batchify(() => ask(client, 'cat', model), stage.options(flex))).toContain('"cat"');
    expect(stage.simulator.meter.total).toBe(1);
  });

  it('that waits for its turn is told when the ledger breaks', async () => {
    stage.simulator.configure({ flex: { openai: { delay: 20 } } });
    const client = stage.openai({ maxRetries: 0 });
    const store = stage.newStore();
    const scope = batchify(
      stage.options({ ...flex, store, realtimeConcurrency: 2, logger: quiet }),
    );
    const numbers = Array.from({ length: 12 }, (_, at) => `number ${at}`);
    const asked = scope.run(() =>
      Promise.allSettled(numbers.map((one) => ask(client, one, model))),
    );
    await until(() => stage.simulator.meter.total > 0, 'the first call');
    const { DatabaseSync } = await loadDriver();
    const database = new DatabaseSync(store, { timeout: 10_000 });
    database.exec('ALTER TABLE request RENAME TO lost');
    database.close();
    const endings = await soon(asked);
    expect(stage.simulator.meter.total).toBeLessThan(numbers.length);
    for (const ending of endings) {
      if (ending.status === 'rejected') expect(ending.reason).toMatchObject({ status: 500 });
    }
    await soon(scope.close());
  });

  it('that is cancelled gets 499, and ends on the wire', async () => {
    stage.simulator.configure({ flex: { openai: { delay: 60_000 } } });
    const client = stage.openai({ maxRetries: 0 });
    const scope = batchify(stage.options(flex));
    await scope.run(async () => {
      const asked = ask(client, 'cat', model);
      await until(() => stage.simulator.meter.mostAtOnce() === 1, 'the call to be sent');
      await scope.cancel();
      await expect(asked).rejects.toMatchObject({ status: 499 });
    });
    await scope.close();
  });

  it('waits for what others have reserved of the budget, which is more than they cost', async () => {
    // Each may cost $0.001 and costs a hundredth of that.
    const scope = batchify(stage.options({ ...flex, budget: 0.0015 }));
    const client = stage.openai({ maxRetries: 0 });
    const names = Array.from({ length: 20 }, (_, index) => `question ${index}`);
    await scope.run(() => Promise.all(names.map((name) => ask(client, name, model))));
    await scope.close();
    expect(scope.stats).toMatchObject({ answered: 20, failed: 0 });
  });

  it('that is tried again takes its part of the budget once, if the provider has refused the first try', async () => {
    const action = { kind: 'status', status: 500, body: { error: { message: 'no' } } } as const;
    stage.simulator.faults.add({ path: /chat\/completions$/, action });
    // Each may cost $0.001: there is room for one.
    const options = stage.options({ ...flex, budget: 0.0015 });
    const client = stage.openai({ maxRetries: 0 });
    expect(await batchify(() => ask(client, 'cat', model), options)).toContain('"cat"');
    expect(tiers()).toEqual({ flex: 1 });
  });

  it('that was lost on the wire counts with its estimate: it may have been paid for', async () => {
    const action = { kind: 'lost' } as const;
    stage.simulator.faults.add({ path: /chat\/completions$/, action });
    const scope = batchify(stage.options({ ...flex, attempts: 1, budget: 0.0015 }));
    const client = stage.openai({ maxRetries: 0 });
    await scope.run(async () => {
      await expect(ask(client, 'cat', model)).rejects.toMatchObject({ status: 502 });
      await expect(ask(client, 'dog', model)).rejects.toMatchObject({ status: 402 });
    });
    await scope.close();
  });

  it('is not sent where the budget has no room', async () => {
    const client = stage.openai({ maxRetries: 0 });
    const asked = batchify(
      () => ask(client, 'cat', model),
      stage.options({ ...flex, budget: 0.0000001 }),
    );
    await expect(asked).rejects.toMatchObject({ status: 402 });
    expect(stage.simulator.meter.total).toBe(0);
  });
});

describe('calls that leave the batch lane', () => {
  it('because they are too few go out in flex', async () => {
    const options = stage.options({ minBatch: 5, onSmallBatch: 'flex' });
    const scope = batchify(options);
    await scope.run(() => Promise.all(['a', 'b'].map((one) => ask(stage.openai(), one, model))));
    await scope.close();
    expect(tiers()).toEqual({ flex: 2 });
    expect(scope.stats).toMatchObject({ flex: 2, realtime: 0 });
  });

  it.each([true, false])(
    'because they are too few are batched where there is no such tier (%s: as the provider is known)',
    async (isKnown) => {
      stage.simulator.configure({ flex: { openai: { refusedModels: [model] } } });
      const few = { minBatch: 5, onSmallBatch: 'flex', logger: quiet } as const;
      const scope = batchify(stage.options(few));
      await scope.run(() =>
        isKnown ? askClaude(stage.anthropic(), 'cat') : ask(stage.openai(), 'cat', model),
      );
      await scope.close();
      expect(tiers()).toEqual({ batch: 1 });
      expect(scope.stats.realtime).toBe(0);
    },
  );

  it('because their time is up go out in flex if that has room, otherwise at full price', async () => {
    stage.simulator.configure({ speed: { running: 3_600_000 } });
    const options = { deadline: '300ms', onDeadline: 'flex' } as const;
    await batchify(() => ask(stage.openai(), 'cat', model), stage.options(options));
    expect(tiers()).toEqual({ flex: 1 });
    stage.simulator.configure({ flex: { openai: { full: 'always' } } });
    await batchify(() => ask(stage.openai(), 'dog', model), stage.options(options));
    expect(tiers()).toEqual({ flex: 1, standard: 1 });
  });
});

it('a dry run prices the lane, and says which it is', async () => {
  const summaryOf = async (lane: 'batch' | 'flex' | 'realtime') => {
    const options = stage.options({ lane, dryRun: true, display: 'none' });
    const { summary } = (await batchify(() => ask(stage.openai(), 'cat', model), options).catch(
      (error: unknown) => error as { summary: Record<string, unknown> },
    )) as { summary: { dollars: { batch: { most: number } }; queues: object[] } };
    return summary;
  };
  const [batch, flexed, realtime] = [
    await summaryOf('batch'),
    await summaryOf('flex'),
    await summaryOf('realtime'),
  ];
  expect(flexed.dollars.batch.most).toBeCloseTo(batch.dollars.batch.most, 12);
  expect(realtime.dollars.batch.most).toBeCloseTo(2 * batch.dollars.batch.most, 12);
  expect(flexed.queues).toMatchObject([{ flex: 1, batches: 0 }]);
  expect(realtime.queues).toMatchObject([{ realtime: 1, batches: 0 }]);
  expect(stage.simulator.meter.total).toBe(0);
});
