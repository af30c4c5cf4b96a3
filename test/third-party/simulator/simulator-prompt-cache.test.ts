import Anthropic from '@anthropic-ai/sdk';
import type { MessageBatchIndividualResponse } from '@anthropic-ai/sdk/resources/messages/batches';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Simulator, startSimulator } from '../../../src/simulator/index.ts';
import { patientClock } from '../../support/clocks/patient-clock.ts';

let simulator: Simulator;
let client: Anthropic;

const { clock, skipHours } = patientClock();
const speed = { validating: 0, running: 0, finalizing: 0, cancelling: 0 };
const prefixTokens = 11_000;
const rules = 'rule '.repeat((prefixTokens * 4) / 5);
const model = 'claude-haiku-4-5';

beforeAll(async () => {
  simulator = await startSimulator({ speed, clock });
  client = newClient('sk-ant-one');
});
beforeEach(() => simulator.reset());
afterAll(() => simulator.close());

function newClient(apiKey: string): Anthropic {
  return new Anthropic({ apiKey, baseURL: simulator.baseUrl('anthropic'), maxRetries: 0 });
}

type Marked = Anthropic.MessageCreateParamsNonStreaming;

function ask(question: string, ttl: '5m' | '1h' = '1h', asked = model): Marked {
  const mark = { type: 'ephemeral' as const, ttl };
  return {
    model: asked,
    max_tokens: 50,
    system: [{ type: 'text', text: rules, cache_control: mark }],
    messages: [{ role: 'user', content: question }],
  };
}

async function runBatch(params: readonly Marked[], by = client): Promise<Anthropic.Usage[]> {
  const requests = params.map((one, at) => ({ custom_id: `r-${at}`, params: one }));
  const { id } = await by.messages.batches.create({ requests });
  await expect
    .poll(async () => (await by.messages.batches.retrieve(id)).processing_status)
    .toBe('ended');
  const lines: MessageBatchIndividualResponse[] = [];
  for await (const line of await by.messages.batches.results(id)) lines.push(line);
  return lines.map(({ result }) => {
    if (result.type !== 'succeeded') throw new Error(`The line ${result.type}`);
    return result.message.usage;
  });
}

const questions = (count: number, ttl?: '5m' | '1h') =>
  Array.from({ length: count }, (_, at) => ask(`question ${at}`, ttl));
const reads = (usages: readonly Anthropic.Usage[]) =>
  usages.map((usage) => usage.cache_read_input_tokens ?? 0);

describe('the prompt cache of an Anthropic workspace', () => {
  it('is read by batches after the one that wrote it, and by no row of that one', async () => {
    const cold = await runBatch(questions(5));
    expect(reads(cold)).toEqual([0, 0, 0, 0, 0]);
    for (const usage of cold) {
      const written = usage.cache_creation_input_tokens ?? 0;
      expect(written).toBeGreaterThanOrEqual(prefixTokens);
      expect(usage.cache_creation).toEqual({
        ephemeral_5m_input_tokens: 0,
        ephemeral_1h_input_tokens: written,
      });
      expect(usage.input_tokens).toBeLessThan(20);
    }
    const warm = await runBatch(questions(5));
    for (const read of reads(warm)) expect(read).toBeGreaterThanOrEqual(prefixTokens);
    expect(warm.map((usage) => usage.cache_creation_input_tokens)).toEqual([0, 0, 0, 0, 0]);
  });

  it('is not warmed for batches by ordinary calls, which warm each other', async () => {
    await client.messages.create(ask('first'));
    const second = await client.messages.create(ask('second'));
    expect(second.usage.cache_read_input_tokens).toBeGreaterThanOrEqual(prefixTokens);
    expect(reads(await runBatch(questions(2)))).toEqual([0, 0]);
  });

  it('is told in streams', async () => {
    await client.messages.create(ask('first'));
    const message = await client.messages.stream(ask('second')).finalMessage();
    expect(message.usage.cache_read_input_tokens).toBeGreaterThanOrEqual(prefixTokens);
  });

  it('belongs to a workspace and a model', async () => {
    await runBatch([ask('warm')]);
    expect(reads(await runBatch([ask('again')], newClient('sk-ant-two')))).toEqual([0]);
    expect(reads(await runBatch([ask('again', '1h', 'claude-opus-4-6')]))).toEqual([0]);
    const [read] = reads(await runBatch([ask('again')]));
    expect(read).toBeGreaterThan(0);
  });

  it('forgets after five minutes or an hour, counted from the last hit', async () => {
    await runBatch([ask('warm', '5m')]);
    skipHours(0.08);
    expect(reads(await runBatch([ask('in time', '5m')]))[0]).toBeGreaterThan(0);
    skipHours(0.08);
    expect(reads(await runBatch([ask('renewed', '5m')]))[0]).toBeGreaterThan(0);
    skipHours(0.09);
    const [late] = await runBatch([ask('late', '5m')]);
    expect(late?.cache_read_input_tokens).toBe(0);
    expect(late?.cache_creation?.ephemeral_5m_input_tokens).toBeGreaterThan(0);
    simulator.reset();
    await runBatch([ask('warm', '1h')]);
    skipHours(0.9);
    expect(reads(await runBatch([ask('in time', '1h')]))[0]).toBeGreaterThan(0);
    skipHours(1.01);
    expect(reads(await runBatch([ask('late', '1h')]))).toEqual([0]);
  });

  it('needs the same tools, and finds what an earlier turn has written', async () => {
    const mark = { type: 'ephemeral' as const };
    const turn = (text: string) => [{ type: 'text' as const, text, cache_control: mark }];
    const first = {
      model,
      max_tokens: 50,
      messages: [{ role: 'user' as const, content: turn(rules) }],
    };
    const second = {
      ...first,
      messages: [
        { role: 'user' as const, content: [{ type: 'text' as const, text: rules }] },
        { role: 'assistant' as const, content: 'I see.' },
        { role: 'user' as const, content: turn('and now?') },
      ],
    };
    await client.messages.create(first);
    const { usage } = await client.messages.create(second);
    expect(usage.cache_read_input_tokens).toBeGreaterThanOrEqual(prefixTokens);
    expect(usage.cache_creation_input_tokens).toBeGreaterThan(0);
    const tools = [{ name: 'weather', input_schema: { type: 'object' as const } }];
    const other = await client.messages.create({ ...first, tools });
    expect(other.usage.cache_read_input_tokens).toBe(0);
  });

  it('silently keeps nothing that is too short, and refuses too many marks', async () => {
    const mark = { cache_control: { type: 'ephemeral' as const } };
    const short = (count: number) => ({
      model,
      max_tokens: 50,
      system: Array.from({ length: count }, (_, at) => ({
        type: 'text' as const,
        text: `rule ${at}`,
        ...mark,
      })),
      messages: [{ role: 'user' as const, content: 'cat' }],
    });
    const { usage } = await client.messages.create(short(4));
    expect(usage.cache_creation_input_tokens).toBe(0);
    await expect(client.messages.create(short(5))).rejects.toMatchObject({ status: 400 });
    simulator.configure({ promptCache: { minimum: 2 } });
    const kept = await client.messages.create(short(4));
    expect(kept.usage.cache_creation_input_tokens).toBeGreaterThan(0);
  });

  it('is hit by a share of the rows only, if told so', async () => {
    simulator.configure({ promptCache: { hits: 0.5 } });
    await runBatch([ask('warm')]);
    const hits = reads(await runBatch(questions(60))).filter((read) => read > 0).length;
    expect(hits).toBeGreaterThan(15);
    expect(hits).toBeLessThan(45);
  });

  it('makes a primed batch as cheap as the formula says', async () => {
    const price = {
      input: 1,
      output: 5,
      cacheRead: 0.1,
      cacheWrite: 1.25,
      cacheWrite1h: 2,
      shares: { batch: 0.5 },
    };
    const bill = () => simulator.meter.dollars({ [model]: price });
    const rest = 200;
    await runBatch(questions(rest));
    const cold = bill();
    simulator.reset();
    await runBatch([ask('primer')]);
    await runBatch(questions(rest));
    const primed = bill();
    const { executions } = simulator.meter;
    const others = executions.reduce(
      (sum, { usage: { input, cacheRead, cacheWrite1h, output } }) =>
        sum + (input - cacheRead - cacheWrite1h) * 1 + output * 5,
      0,
    );
    const kept = executions[0]?.usage.cacheWrite1h ?? 0;
    const expected = (0.5 * (kept * (2 + rest * 0.1) + others)) / 1e6;
    expect(primed).toBeCloseTo(expected, 9);
    expect(cold / primed).toBeGreaterThan(10);
  });
});

describe('the prompt cache of OpenAI', () => {
  const openai = () => new OpenAI({ apiKey: 'sk-one', baseURL: simulator.baseUrl('openai') });
  const chat = (asked: string, content = `${rules} cat`) =>
    openai().chat.completions.create({ model: asked, messages: [{ role: 'user', content }] });

  it('works by itself, and newer models tell what they write', async () => {
    const first = await chat('gpt-5.6-luna');
    const written = first.usage?.prompt_tokens_details?.cache_write_tokens ?? 0;
    expect(written).toBeGreaterThan(prefixTokens - 128);
    expect(written % 128).toBe(0);
    const second = await chat('gpt-5.6-luna', `${rules} dog`);
    expect(second.usage?.prompt_tokens_details).toMatchObject({ cached_tokens: written });
    expect(second.usage?.prompt_tokens_details).not.toHaveProperty('cache_write_tokens');
  });

  it('costs nothing to write on older models, and is not for short prompts', async () => {
    const first = await chat('gpt-5-mini');
    expect(first.usage?.prompt_tokens_details).not.toHaveProperty('cache_write_tokens');
    const second = await chat('gpt-5-mini');
    expect(second.usage?.prompt_tokens_details?.cached_tokens).toBeGreaterThan(0);
    await chat('gpt-5-mini', 'cat');
    const short = await chat('gpt-5-mini', 'cat');
    expect(short.usage?.prompt_tokens_details?.cached_tokens).toBe(0);
  });

  it('can be switched off, by the request or by the setting', async () => {
    const ask = () =>
      openai().responses.create({
        model: 'gpt-5.6-luna',
        input: rules,
        prompt_cache_options: { mode: 'explicit' },
      } as OpenAI.Responses.ResponseCreateParamsNonStreaming);
    await ask();
    const none = { cached_tokens: 0, cache_write_tokens: 0 };
    expect((await ask()).usage?.input_tokens_details).toEqual(none);
    simulator.configure({ promptCache: { automatic: false } });
    await chat('gpt-5-mini');
    const again = await chat('gpt-5-mini');
    expect(again.usage?.prompt_tokens_details?.cached_tokens).toBe(0);
  });
});
