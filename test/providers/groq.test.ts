import Groq from 'groq-sdk';
import type OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { batchify } from '../../src/index.ts';
import { ask } from '../support/ask.ts';
import { until } from '../support/until.ts';
import { providerCases } from './openai-like-cases.ts';
import { type ProviderCase, useProvider } from './provider-stage.ts';

const groq: ProviderCase = {
  name: 'groq',
  model: 'llama-test',
  root: '/openai/v1',
  line: (id, body) =>
    `{"custom_id":"${id}","method":"POST","url":"/v1/chat/completions","body":${body}}`,
  connect({ url }, { apiKey, maxRetries }) {
    // Its paths begin with /openai/v1. What the tests use has the same shape in both SDKs.
    const options = { apiKey: String(apiKey), maxRetries: maxRetries ?? 0 };
    return new Groq({ baseURL: `${url}/groq`, ...options }) as unknown as OpenAI;
  },
  errors: Groq,
};

providerCases(groq);

describe('what only Groq does', () => {
  const stage = useProvider(groq);

  it('shows many batches in one request', async () => {
    const { simulator, client } = stage;
    simulator.hold();
    const scope = batchify(stage.options({ batchSize: 1 }));
    const asked = scope.run(() =>
      Promise.all(['a', 'b', 'c'].map((prompt) => ask(client, prompt, groq.model))),
    );
    const isNamed = ({ query }: { query: string }) => query.split('id=').length === 4;
    await until(() => simulator.requests.some(isNamed), 'a look at three batches');
    simulator.release();
    await asked;
    await scope.close();
    expect(simulator.meter.total).toBe(3);
  });

  it('takes windows of up to a week, and says which', async () => {
    const window = (completionWindow: '48h' | '7d' | '8d') =>
      batchify(
        () => ask(stage.client, `within ${completionWindow}`, groq.model),
        stage.options({ completionWindow }),
      );
    await window('7d');
    await window('48h');
    const { data } = await stage.client.batches.list();
    expect(data.map(({ completion_window: word }) => word)).toEqual(['2d', '7d']);
    await expect(window('8d')).rejects.toThrow(/24h, 2d, 3d/);
  });

  it('names the plan, not the key, where the plan has no batches', async () => {
    const error = { message: 'Upgrade to the Developer plan.', code: 'not_available_for_plan' };
    stage.simulator.faults.add({
      method: 'POST',
      path: '/openai/v1/files',
      action: { kind: 'status', status: 403, body: { error } },
    });
    const asked = batchify(() => ask(stage.client, 'a', groq.model), stage.options());
    await expect(asked).rejects.toThrow('403 {"error":{"message":"Upgrade to the Developer plan."');
  });

  it('reads the lines of a batch that is completed in spite of its errors', async () => {
    const errors = [{ code: 'invalid_method', message: 'no', param: 'method', line: 4 }];
    stage.simulator.faults.nextBatch({ errors });
    const text = await batchify(() => ask(stage.client, 'a', groq.model), stage.options());
    expect(text).toContain('"a"');
    const { data } = await stage.client.batches.list();
    expect(data[0]?.errors).toEqual(errors);
  });

  it('sends the other lines again when it names a bad one', async () => {
    const asked = batchify(
      () =>
        Promise.allSettled(['a [[invalid]]', 'b'].map((one) => ask(stage.client, one, groq.model))),
      stage.options(),
    );
    expect(await asked).toMatchObject([
      { status: 'rejected', reason: { status: 400 } },
      { status: 'fulfilled' },
    ]);
    expect(stage.simulator.meter.total).toBe(1);
  });
});
