import { existsSync } from 'node:fs';
import { GoogleGenAI } from '@google/genai';
import pLimit from 'p-limit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type BatchifyOptions, BatchlingError, batchify, DryRunExit } from '../../../src/index.ts';
import { openLedger } from '../../../src/ledger/open-ledger.ts';
import { dryRunLines } from '../../../src/report/text/dry-run-lines.ts';
import { ask, askClaude, askGemini } from '../../support/ask.ts';
import { openStage, type Stage } from '../../support/stage.ts';

let stage: Stage;
let hosts: Stage['hosts'];
beforeAll(async () => {
  stage = await openStage();
  hosts = { ...stage.hosts, [stage.simulator.baseUrl('google')]: 'google' };
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

const model = 'gpt-4o-mini';

function gemini(): GoogleGenAI {
  const baseUrl = stage.simulator.baseUrl('google');
  return new GoogleGenAI({ apiKey: 'test-key', httpOptions: { baseUrl } });
}

function options(given: BatchifyOptions = {}): BatchifyOptions {
  return stage.options({ dryRun: true, display: 'none', hosts, ...given });
}

async function exitOf(run: Promise<unknown>): Promise<DryRunExit> {
  const error = await run.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(DryRunExit);
  return error as DryRunExit;
}

function expectNothingSent(): void {
  expect(stage.simulator.requests).toEqual([]);
  expect(stage.simulator.meter.total).toBe(0);
}

describe('a dry run', () => {
  it('stops batchify at the first awaited round, and says what would be sent', async () => {
    let isPast = false;
    const store = stage.newStore();
    const { code, summary, message } = await exitOf(
      batchify(
        async () => {
          await Promise.all([
            ...['a', 'b', 'c'].map((prompt) => ask(stage.openai(), prompt, model)),
            askClaude(stage.anthropic(), 'd', 'claude-haiku-4-5'),
            askGemini(gemini(), 'e', 'gemini-2.5-flash'),
          ]);
          isPast = true;
        },
        options({ store, batchSize: 2 }),
      ),
    );
    expect({ code, isPast }).toEqual({ code: 'DRY_RUN', isPast: false });
    expect(message).toContain('nothing was sent');
    expect(summary).toMatchObject({ deep: false, calls: 5, batches: 4, fromLedger: 0 });
    const [openai, claude, google] = ['openai', 'anthropic', 'google'].map((name) =>
      summary.queues.find(({ provider }) => provider === name),
    );
    expect(openai).toMatchObject({
      ...{ provider: 'openai', model, requests: 3, batches: 2, outputBasis: ['assumption'] },
      outputTokens: { least: 300, most: 3_000 },
    });
    expect(claude).toMatchObject({ outputBasis: ['limit'], outputTokens: { least: 0, most: 64 } });
    expect(google).toMatchObject({ provider: 'google', requests: 1, batches: 1 });
    const { batch, realtime } = summary.dollars;
    expect(batch.least).toBeGreaterThan(0);
    expect(batch.most).toBeGreaterThan(batch.least);
    expect(realtime.most).toBeCloseTo(2 * batch.most, 12);
    expectNothingSent();
    expect(existsSync(store)).toBe(false);
  });

  it('waits for calls that come within the window', async () => {
    const pause = () => new Promise((resolve) => setTimeout(resolve, 5));
    const { summary } = await exitOf(
      batchify(
        async () => {
          const asked: Promise<string>[] = [];
          for (let index = 0; index < 5; index += 1) {
            asked.push(ask(stage.openai(), `${index}`, model));
            await pause();
          }
          await Promise.all(asked);
        },
        options({ window: '300ms' }),
      ),
    );
    expect(summary).toMatchObject({ calls: 5, batches: 1 });
  });

  it('counts calls that nobody awaits', async () => {
    const { summary } = await exitOf(
      batchify(() => {
        void ask(stage.openai(), 'unawaited', model);
      }, options()),
    );
    expect(summary.calls).toBe(1);
  });

  it('returns the result of a function without LLM calls', async () => {
    expect(await batchify(() => 'nothing to ask', options())).toBe('nothing to ask');
  });

  it('keeps the error of the function', async () => {
    const failing = batchify(() => {
      throw new RangeError('mine');
    }, options());
    await expect(failing).rejects.toThrow(RangeError);
  });

  it('answers calls of a scope without a function with status 400, and they are not tried again', async () => {
    const scope = batchify({ ...options(), hooks: false });
    const client = stage.openai({ fetch: scope.fetch });
    await expect(ask(client, 'a', model)).rejects.toMatchObject({
      status: 400,
      type: 'batchling_dry_run',
      headers: expect.objectContaining({}),
    });
    await scope.close();
    expect(scope.stats).toMatchObject({ captured: 1, failed: 1 });
    expectNothingSent();
    await using entered = await batchify(options()).enter();
    await expect(askClaude(stage.anthropic(), 'b')).rejects.toMatchObject({ status: 400 });
    expect(entered.stats.captured).toBe(1);
  });

  it('answers from the ledger what is in it, and counts it as free', async () => {
    const store = stage.newStore();
    const first = await batchify(() => ask(stage.openai(), 'known', model), {
      ...stage.options({ store, display: 'none' }),
      name: 'the real run',
    });
    const before = stage.simulator.requests.length;
    process.env.BATCHLING_RUN = 'another-run';
    try {
      const again = () => ask(stage.openai(), 'known', model);
      expect(await batchify(again, options({ store }))).toBe(first);
      const both = () => Promise.all([again(), ask(stage.openai(), 'new', model)]);
      process.env.BATCHLING_RUN = 'a-third-run';
      const { summary } = await exitOf(batchify(both, options({ store })));
      expect(summary).toMatchObject({ calls: 2, fromLedger: 1, batches: 1 });
      // It has seen how long answers are.
      expect(summary.queues[0]?.outputBasis).toEqual(['history']);
    } finally {
      delete process.env.BATCHLING_RUN;
    }
    expect(stage.simulator.requests).toHaveLength(before);
    const ledger = await openLedger(store);
    expect(await ledger.list()).toHaveLength(1);
    await ledger.close();
  });

  it('says how many batches wait for maxInFlight, and that later rounds are not seen', async () => {
    const four = () =>
      Promise.all(['a', 'b', 'c', 'd'].map((one) => ask(stage.openai(), one, model)));
    const { summary } = await exitOf(batchify(four, options({ batchSize: 1, maxInFlight: 2 })));
    expect(summary.queues[0]).toMatchObject({ batches: 4, rounds: 1, oneAfterAnother: 2 });
    const text = dryRunLines(summary).join('\n');
    expect(text).toMatch(
      /4 batches, 2 one after another: 2 × minutes to hours\. Raise maxInFlight/,
    );
    expect(text).toMatch(/Batches that would come after these.*not counted: --dry-run=deep/);
  });

  it('names models without a known price', async () => {
    const run = () =>
      Promise.all([ask(stage.openai(), 'a', 'own'), ask(stage.openai(), 'b', model)]);
    const { summary } = await exitOf(batchify(run, options()));
    expect(summary.unpriced).toEqual(['openai own']);
    expect(summary.queues.find((queue) => queue.model === 'own')).not.toHaveProperty('dollars');
    expect(dryRunLines(summary).join('\n')).toContain('openai own, whose price is unknown');
  });

  it('counts what would go out in realtime at the full price', async () => {
    const { summary } = await exitOf(
      batchify(() => ask(stage.openai(), 'alone', model), options({ minBatch: 2 })),
    );
    expect(summary).toMatchObject({ batches: 0, queues: [{ realtime: 1 }] });
    expect(summary.dollars.batch).toEqual(summary.dollars.realtime);
  });

  it('is no batchling error but a DryRunExit, which is one', async () => {
    const exit = await exitOf(batchify(() => ask(stage.openai(), 'a', model), options()));
    expect(BatchlingError.isInstance(exit)).toBe(true);
    expect(exit.name).toBe('DryRunExit');
  });

  it.each(['shallow', 1, null])('%j is refused', (dryRun) => {
    expect(() => batchify({ dryRun: dryRun as never })).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION' }),
    );
  });
});

describe('a deep dry run', () => {
  const deep = (given: BatchifyOptions = {}) => options({ dryRun: 'deep', ...given });

  it('goes on through later rounds', async () => {
    const rounds: string[] = [];
    const { summary } = await exitOf(
      batchify(async () => {
        rounds.push(await ask(stage.openai(), 'first', model));
        rounds.push(await ask(stage.openai(), 'then', model));
        rounds.push(await askClaude(stage.anthropic(), 'then', 'claude-haiku-4-5'));
        rounds.push(await askGemini(gemini(), 'at last', 'gemini-2.5-flash'));
      }, deep()),
    );
    expect(rounds).toHaveLength(4);
    for (const text of rounds) expect(text).toContain('placeholder');
    expect(summary).toMatchObject({ deep: true, calls: 4, batches: 4 });
    expectNothingSent();
  });

  it('says of a program that limits itself how many batches run one after another', async () => {
    const limit = pLimit(10);
    const prompts = Array.from({ length: 50 }, (_, at) => `${at}`);
    const limited = () =>
      Promise.all(prompts.map((one) => limit(() => ask(stage.openai(), one, model))));
    // Each round fills a batch: a window would take a slow round for two.
    const { summary } = await exitOf(batchify(limited, deep({ batchSize: 10, window: '1m' })));
    expect(summary.queues[0]).toMatchObject({ batches: 5, rounds: 5, oneAfterAnother: 5 });
    expect(dryRunLines(summary).join('\n')).toMatch(
      /5 batches, each after the one before: 5 × minutes to hours\. .*p-limit/,
    );
    const atOnce = () => Promise.all(prompts.map((one) => ask(stage.openai(), one, model)));
    const { summary: wide } = await exitOf(batchify(atOnce, deep()));
    expect(dryRunLines(wide).join('\n')).not.toContain('×');
  });

  it('answers in the shape that each call asks for', async () => {
    const client = stage.openai();
    const Person = z.object({
      name: z.string(),
      age: z.number().min(18),
      tags: z.array(z.string()),
    });
    const schema = z.toJSONSchema(Person);
    const messages = [{ role: 'user' as const, content: 'who?' }];
    await exitOf(
      batchify(async () => {
        const response_format = {
          type: 'json_schema' as const,
          json_schema: { name: 'person', schema },
        };
        const structured = await client.chat.completions.create({
          model,
          messages,
          response_format,
          n: 2,
        });
        expect(structured.choices).toHaveLength(2);
        Person.parse(JSON.parse(structured.choices[0]?.message.content ?? ''));

        const format = { type: 'json_schema' as const, name: 'person', schema };
        const response = await client.responses.create({ model, input: 'who?', text: { format } });
        Person.parse(JSON.parse(response.output_text));

        const stream = client.chat.completions.stream({ model, messages });
        expect((await stream.finalChatCompletion()).choices[0]?.message.content).toContain(
          'placeholder',
        );

        const tool = { name: 'save', parameters: schema };
        const tools = [{ type: 'function' as const, function: tool }];
        const free = await client.chat.completions.create({ model, messages, tools });
        expect(free.choices[0]?.message.tool_calls).toBeUndefined();
        const forced = await client.chat.completions.create({
          ...{ model, messages, tools },
          tool_choice: 'required',
        });
        const [call] = forced.choices[0]?.message.tool_calls ?? [];
        Person.parse(JSON.parse(call?.type === 'function' ? call.function.arguments : ''));

        const embedded = await client.embeddings.create({
          ...{ model: 'text-embedding-3-small', input: ['one', 'two'], dimensions: 8 },
        });
        expect(embedded.data.map(({ embedding }) => embedding.length)).toEqual([8, 8]);

        const claude = stage.anthropic();
        const message = await claude.messages
          .stream({ model: 'claude-haiku-4-5', max_tokens: 9, messages })
          .finalMessage();
        expect(message.content[0]).toMatchObject({ type: 'text' });
        const used = await claude.messages.create({
          ...{ model: 'claude-haiku-4-5', max_tokens: 9, messages },
          tools: [{ name: 'save', input_schema: schema as { type: 'object' } }],
          tool_choice: { type: 'tool', name: 'save' },
        });
        Person.parse(used.content[0]?.type === 'tool_use' ? used.content[0].input : undefined);

        const google = gemini();
        const config = { responseMimeType: 'application/json', responseJsonSchema: schema };
        const { text } = await google.models.generateContent({
          ...{ model: 'gemini-2.5-flash', contents: 'who?', config },
        });
        Person.parse(JSON.parse(text ?? ''));
        const chunks = await google.models.generateContentStream({
          ...{ model: 'gemini-2.5-flash', contents: 'who?' },
        });
        let told = '';
        for await (const chunk of chunks) told += chunk.text ?? '';
        expect(told).toContain('placeholder');
        const vectors = await google.models.embedContent({
          ...{ model: 'gemini-embedding-001', contents: ['one', 'two'] },
          config: { outputDimensionality: 5 },
        });
        expect(vectors.embeddings?.map(({ values }) => values?.length)).toEqual([5, 5]);
      }, deep()),
    );
    expectNothingSent();
  });
});
