import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { registeredBatchers } from '../../src/batchers/registry.ts';
import { type BatchifyOptions, batchify } from '../../src/index.ts';
import { Router } from '../../src/orchestrator/capture/router.ts';
import { ask } from '../support/ask.ts';
import { providerCases } from './openai-like-cases.ts';
import { useProvider } from './provider-stage.ts';
import {
  dashscope,
  moonshot,
  novita,
  type Service,
  services,
  siliconflow,
  usualLine,
  zhipu,
} from './services.ts';

for (const service of services) providerCases(service);

describe.each(services)('$name', ({ name, batcher, urls, price }) => {
  it('is known by the URLs that its users give to their SDK', () => {
    const router = new Router(registeredBatchers(), []);
    for (const url of urls) {
      expect(router.find(`${url}/chat/completions`)).toMatchObject({
        provider: name,
        wireBase: url,
        path: '/chat/completions',
      });
      expect(router.find(`${url}/files`)).toBeUndefined();
    }
  });

  it('has its own price, and notes for people', () => {
    const { windows } = batcher.limits({ endpoint: '/v1/chat/completions', model: 'any' });
    expect(windows['24h']?.priceShare).toBe(price);
    expect(batcher.notes.foundBy).toBe('its input file');
  });
});

function program(service: Service) {
  const stage = useProvider(service);
  const { model } = service;
  return {
    stage,
    ask: (prompt: string, given: BatchifyOptions = {}) =>
      batchify(() => ask(stage.client, prompt, model), stage.options(given)),
    all: (bodies: readonly object[], given: BatchifyOptions = {}) =>
      batchify(
        () =>
          Promise.allSettled(
            bodies.map((body) => {
              const messages = [{ role: 'user', content: 'same' }];
              const asked = { model, messages, ...body } as OpenAI.ChatCompletionCreateParams;
              return stage.client.chat.completions.create(asked);
            }),
          ),
        stage.options(given),
      ),
    windows: async () => {
      const { data } = await stage.client.batches.list();
      return data.map(({ completion_window: window }) => window);
    },
  };
}

describe('what only SiliconFlow does', () => {
  const { stage, ask: askOne, all, windows } = program(siliconflow);

  it('takes two weeks, in hours', async () => {
    await askOne('a', { completionWindow: '14d' });
    expect(await windows()).toEqual(['336h']);
  });

  it('makes a call at full price whose last message is not from the user', async () => {
    const messages = [{ role: 'assistant', content: 'I' }];
    const [outcome] = await all([{ messages }], { bypass: 'ignore' });
    expect(outcome?.status).toBe('fulfilled');
    expect(stage.simulator.meter).toMatchObject({ realtime: 1, batched: 0 });
    const [refused] = await all([{ messages }], { bypass: 'error' });
    expect(refused).toMatchObject({
      status: 'rejected',
      reason: { message: expect.stringContaining('need a last message from the user') },
    });
  });

  it('gives the reason of a failed batch as a text', async () => {
    const errors = [{ code: 'x', message: 'The model is not available for batches.' }];
    stage.simulator.faults.nextBatch({ outcome: 'failed', errors });
    await expect(askOne('a')).rejects.toThrow('400 The model is not available for batches.');
  });

  it('may wrap the answer to an upload', async () => {
    const { simulator } = stage;
    const file = await stage.client.files.create({
      file: new File([`${usualLine('x', '{"model":"m","messages":[]}')}\n`], 'a.jsonl'),
      purpose: 'batch',
    });
    const body = { code: 20000, message: 'Ok', status: true, data: file };
    const action = { kind: 'status', status: 200, body } as const;
    simulator.faults.add({ method: 'POST', path: '/v1/files', action });
    await askOne('a', { attempts: 1 }).catch(() => undefined);
    const [batch] = (await stage.client.batches.list()).data;
    expect(batch?.input_file_id).toBe(file.id);
  });
});

describe('what only DashScope does', () => {
  const { stage, ask: askOne, all, windows } = program(dashscope);

  it('keeps thinking settings in batches of their own', async () => {
    const bodies = [{ enable_thinking: true }, { enable_thinking: false }, {}];
    const outcomes = await all([...bodies, ...bodies]);
    expect(outcomes.map(({ status }) => status)).toEqual(Array(6).fill('fulfilled'));
    const totals = stage.simulator.batches().map(({ total }) => total);
    expect(totals).toEqual([2, 2, 2]);
  });

  it('reads failed lines of the output file', async () => {
    await expect(askOne('[[status 422]]')).rejects.toThrow(OpenAI.UnprocessableEntityError);
    const [batch] = (await stage.client.batches.list()).data;
    expect(batch).toMatchObject({ output_file_id: expect.any(String), error_file_id: null });
  });

  it('tells a request of more than 6 MB so, before anything is sent', async () => {
    await expect(askOne('x'.repeat(5_800_000))).rejects.toMatchObject({ status: 413 });
    expect(stage.simulator.countRequests('POST', /./)).toBe(0);
  });

  it('takes two weeks, in hours', async () => {
    await askOne('a', { completionWindow: '2d' });
    expect(await windows()).toEqual(['48h']);
  });
});

describe('what only Moonshot does', () => {
  const { stage, ask: askOne, all, windows } = program(moonshot);

  it('takes half a day, a day and a week', async () => {
    await askOne('a', { completionWindow: '12h' });
    await askOne('b');
    await askOne('c', { completionWindow: '7d' });
    expect(await windows()).toEqual(['7d', '1d', '12h']);
  });

  it.each(['temperature', 'top_p'])(
    'makes a call with %s at full price, unchanged',
    async (name) => {
      const [outcome] = await all([{ [name]: 0.25 }], { bypass: 'ignore' });
      expect(outcome?.status).toBe('fulfilled');
      const { meter } = stage.simulator;
      expect(meter).toMatchObject({ realtime: 1, batched: 0 });
      expect(meter.executions[0]?.body).toMatchObject({ [name]: 0.25 });
    },
  );

  it('refuses a cancel that comes too late, which changes nothing', async () => {
    expect(await askOne('a')).toContain('"a"');
    const [batch] = (await stage.client.batches.list()).data;
    const cancelling = stage.client.batches.cancel(batch?.id as string);
    await expect(cancelling).rejects.toThrow(OpenAI.BadRequestError);
  });
});

describe.each([zhipu, novita])('what $name does with its counts', (service) => {
  const { stage, ask: askOne } = program(service);

  it('they stand beside the status, and are told all the same', async () => {
    const scope = batchify(stage.options());
    const counts: unknown[] = [];
    scope.on('batch:polled', (polled) => counts.push(polled.counts));
    await scope.run(() => ask(stage.client, 'a', service.model));
    await scope.close();
    expect(counts.at(-1)).toEqual({ total: 1, completed: 1, failed: 0 });
    const [batch] = (await stage.client.batches.list()).data;
    expect(batch).toMatchObject({ total: 1, completed: 1, failed: 0 });
    expect(batch?.request_counts).toBeUndefined();
    await askOne('b');
  });
});
