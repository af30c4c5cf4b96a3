import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { type BatchifyOptions, batchify } from '../../src/index.ts';
import { ask } from '../support/ask.ts';
import { fastClock } from '../support/programs/parts/fast-clock.ts';
import { until } from '../support/until.ts';
import { type ErrorClass, type ProviderCase, useProvider } from './provider-stage.ts';

const classOf: Readonly<Record<number, ErrorClass>> = {
  400: 'BadRequestError',
  401: 'AuthenticationError',
  403: 'PermissionDeniedError',
  404: 'NotFoundError',
  409: 'ConflictError',
  413: 'APIError',
  422: 'UnprocessableEntityError',
  429: 'RateLimitError',
  500: 'InternalServerError',
};

/** Much of what a body can hold; numbers and spaces as no serialiser would write them. */
export function richBody(model: string): string {
  return (
    `{"model":"${model}", "messages":[{"role":"system","content":"Æ 漢 \\u00e9 \u2028 🦔"},` +
    '{"role":"user","content":"hello \\"you\\"\\n"}],' +
    '"max_tokens":12345678901234567890,"logit_bias":{"50256":-1.0e2,"10":1e-7},' +
    '"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object",' +
    '"properties":{"b":{"type":"number","minimum":1.0},"a":{"enum":[null,true,"x"]}}}}}],' +
    '"future_field":{"z":[1,{"y":[]}],"a":{}},"seed":7}'
  );
}

/** What every provider like OpenAI has to do for a program that uses its SDK. */
export function providerCases(provider: ProviderCase): void {
  const { name, model, root } = provider;
  const errors = provider.errors ?? OpenAI;
  const batches = `${root}/batches`;

  describe(`a program that uses ${name}`, () => {
    const stage = useProvider(provider);

    async function run(prompts: readonly string[], given: BatchifyOptions = {}, maxRetries = 0) {
      const client = stage.connect({ maxRetries });
      const scope = batchify(stage.options(given));
      const outcomes = await scope.run(() =>
        Promise.allSettled(prompts.map((prompt) => ask(client, prompt, model))),
      );
      await scope.close();
      return { outcomes, stats: scope.stats };
    }

    it('has its bodies in the lines as they are, without what asks for a stream', async () => {
      const url = `${stage.simulator.baseUrl(name)}/chat/completions`;
      const body = richBody(model);
      const headers = { authorization: 'Bearer sk-provider-test' };
      const send = async (text: string) => {
        const response = await fetch(url, { method: 'POST', headers, body: text });
        await response.text();
        return response.status;
      };
      const streamed = `${body.slice(0, -1)},"stream":true,"stream_options":{"include_usage":true}}`;
      const statuses = await batchify(
        () => Promise.all([send(body), send(streamed)]),
        stage.options({ cleanup: false }),
      );
      expect(statuses).toEqual([200, 200]);
      const lines = await stage.lines();
      const ids = lines.map((line) => (JSON.parse(line) as { custom_id: string }).custom_id);
      expect(new Set(ids).size).toBe(2);
      const [first = '', second = ''] = ids;
      // What is taken out leaves no space behind where the members are put together again.
      const compact = body.replace(', "messages"', ',"messages"');
      expect(lines).toEqual([provider.line(first, body), provider.line(second, compact)]);
    });

    it('gets its answers, whole and streamed, for a batch and not at full price', async () => {
      const client = stage.client;
      const messages = [{ role: 'user' as const, content: 'streamed' }];
      const { outcomes } = await run(['one', 'two', 'one']);
      const texts = outcomes.map((outcome) => 'value' in outcome && outcome.value);
      expect(texts).toEqual([
        expect.stringContaining('"one"'),
        expect.stringContaining('"two"'),
        expect.stringContaining('"one"'),
      ]);
      const text = await batchify(async () => {
        let all = '';
        const stream = await client.chat.completions.create({ model, messages, stream: true });
        for await (const { choices } of stream) all += choices[0]?.delta.content ?? '';
        return all;
      }, stage.options());
      expect(text).toContain('"streamed"');
      expect(stage.simulator.meter).toMatchObject({ total: 4, batched: 4, realtime: 0 });
      expect(stage.simulator.meter.executedTwice()).toEqual([]);
    });

    it('meets its SDK’s own errors for failed lines, once each', async () => {
      const statuses = Object.keys(classOf).map(Number);
      const prompts = statuses.map((status) => `[[status ${status}]]`);
      const { outcomes } = await run(prompts, { attempts: 1 }, 2);
      for (const [index, outcome] of outcomes.entries()) {
        const status = statuses[index] as number;
        const reason: unknown = outcome.status === 'rejected' ? outcome.reason : undefined;
        expect(reason, `${status}`).toBeInstanceOf(errors[classOf[status] as ErrorClass]);
        expect(reason).toMatchObject({
          status,
          message: expect.stringContaining(`simulated status ${status}`),
        });
      }
      expect(stage.simulator.meter).toMatchObject({ total: 0, failed: statuses.length });
    });

    it('pays nothing twice when the answer to a create is lost', async () => {
      const { simulator } = stage;
      simulator.faults.add({ method: 'POST', path: batches, action: { kind: 'lost' } });
      simulator.configure({ foreignBatches: true });
      const clock = fastClock({ epoch: Date.now(), speed: 100 });
      const { outcomes } = await run(['a', 'b', 'c'], { clock, poll: '1s' });
      expect(outcomes.map(({ status }) => status)).toEqual(Array(3).fill('fulfilled'));
      expect(simulator.meter.total).toBe(3);
      expect(simulator.countRequests('POST', batches)).toBe(1);
    });

    it('cancels at the provider', async () => {
      const { simulator, client } = stage;
      simulator.hold();
      const scope = batchify(stage.options());
      const asked = scope.run(() => ask(client, 'never', model)).catch((error: unknown) => error);
      await until(() => simulator.batches()[0]?.phase === 'in_progress', 'the batch');
      await scope.cancel();
      expect(await asked).toMatchObject({ status: 499 });
      await scope.close();
      await until(() => simulator.batches()[0]?.ending === 'cancelled', 'the cancelled batch');
      expect(simulator.meter.total).toBe(0);
    });

    it.skipIf(provider.neverExpires)(
      'sends again what did not run before its batch expired, and keeps what did',
      async () => {
        const { simulator } = stage;
        simulator.faults.nextBatch({ outcome: 'expired', completedFraction: 0.5 });
        const { outcomes, stats } = await run(['a', 'b', 'c', 'd']);
        expect(outcomes.map(({ status }) => status)).toEqual(Array(4).fill('fulfilled'));
        expect(simulator.meter.total).toBe(4);
        expect(simulator.batches().map(({ total }) => total)).toEqual([4, 2]);
        expect(stats).toMatchObject({ retried: 2, failed: 0 });
      },
    );

    it('hears the provider’s own words when a whole batch is refused', async () => {
      const { simulator } = stage;
      const body = { error: { message: 'Not with this account.', type: 'billing', code: 'no' } };
      const action = { kind: 'status', status: 400, body } as const;
      simulator.faults.add({ method: 'POST', path: batches, action });
      const { outcomes } = await run(['a', 'b'], {}, 2);
      for (const outcome of outcomes) {
        const reason: unknown = outcome.status === 'rejected' ? outcome.reason : undefined;
        expect(reason).toBeInstanceOf(errors.BadRequestError);
        expect(reason).toMatchObject({
          message: expect.stringContaining('Not with this account.'),
        });
      }
      expect(simulator.meter.total).toBe(0);
    });

    it('speaks to its own provider only, under its root and with its key', async () => {
      await run(['a', '[[status 400]]', 'c']);
      const { requests } = stage.simulator;
      for (const { provider: asked, path, headers, account } of requests) {
        expect(asked).toBe(name);
        expect(path).toMatch(new RegExp(`^${root}/(files|batches)(/|$)`));
        expect(headers.authorization).toBe('REDACTED');
        expect(account).toBe(requests[0]?.account);
      }
      const asked = new Set(requests.map(({ method, path }) => `${method} ${shapeOf(path, root)}`));
      expect([...asked].sort()).toEqual(expect.arrayContaining(usualRequests));
    });
  });
}

const usualRequests = [
  'DELETE /files/:id',
  'GET /batches/:id',
  'GET /files/:id/content',
  'POST /batches',
  'POST /files',
];

function shapeOf(path: string, root: string): string {
  return path.slice(root.length).replace(/^\/(files|batches)\/[^/]+/, '/$1/:id');
}
