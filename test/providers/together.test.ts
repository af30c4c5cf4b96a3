import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Together, {
  APIError,
  AuthenticationError,
  BadRequestError,
  ConflictError,
  InternalServerError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  UnprocessableEntityError,
} from 'together-ai';
import { Agent, type Dispatcher } from 'undici';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type BatchifyOptions, type BatchingContext, batchify } from '../../src/index.ts';
import { type OpenAILike, type Simulator, startSimulator } from '../../src/simulator/index.ts';
import { togetherDescription } from '../../src/simulator/together/description.ts';
import { fastClock } from '../support/programs/parts/fast-clock.ts';
import { until } from '../support/until.ts';

let simulator: Simulator;
let folder: string;
let base: string;
let scope: BatchingContext;
let stores = 0;

const key = 'together-key-7d41c2';
const model = 'meta-llama/Llama-3.3-70B-Instruct-Turbo';

beforeAll(async () => {
  const speed = { validating: 2, running: 5, finalizing: 2, cancelling: 2 };
  simulator = await startSimulator({ speed });
  base = simulator.baseUrl('together');
  folder = await mkdtemp(join(tmpdir(), 'batchling-test-'));
});
beforeEach(() => simulator.reset());
afterAll(async () => {
  await simulator.close();
  await rm(folder, { recursive: true, force: true });
});

/** Together is asked every 30 seconds at most, so time runs faster here. */
function options(given: BatchifyOptions = {}): BatchifyOptions {
  stores += 1;
  return {
    store: join(folder, `ledger-${stores}`, 'ledger.db'),
    hosts: { [base]: 'together' },
    clock: fastClock({ epoch: Date.now(), speed: 600 }),
    window: '1m',
    poll: '30s',
    ...given,
  };
}

const client = (given: { baseURL?: string } = {}) =>
  new Together({ apiKey: key, baseURL: base, ...given });

async function ask(content: string, by = client()): Promise<string> {
  const { choices } = await by.chat.completions.create({
    model,
    messages: [{ role: 'user', content }],
  });
  return choices[0]?.message?.content ?? '';
}

/** Asks all at once; failures are results here. */
async function askAll(prompts: readonly string[], given: BatchifyOptions = {}) {
  scope = batchify(options(given));
  const outcomes = await scope.run(() => Promise.allSettled(prompts.map((prompt) => ask(prompt))));
  await scope.close();
  return outcomes;
}

function reasonOf(outcome: PromiseSettledResult<unknown> | undefined): unknown {
  return outcome?.status === 'rejected' ? outcome.reason : outcome;
}

function expectAnswers(outcomes: PromiseSettledResult<string>[], prompts: readonly string[]) {
  for (const [at, prompt] of prompts.entries()) {
    expect(outcomes[at]).toMatchObject({ value: expect.stringContaining(`"${prompt}"`) });
  }
}

/** The input files at the provider, as text. */
async function inputFiles(): Promise<string[]> {
  const { data } = await client().files.list();
  const inputs = data.filter(({ filename }) => !filename.includes('_output'));
  return Promise.all(inputs.map(async ({ id }) => (await client().files.content(id)).text()));
}

describe('a body', () => {
  it('arrives byte for byte, but for what asks for a stream', async () => {
    const rest =
      '"temperature":1.0,"top_p":1e-7,"seed":12345678901234567890,"2":[1.50,-0],"1":{"b":1,"a":2},' +
      '"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object",' +
      '"properties":{"ß":{"enum":["ü","\\u00fc","😀"]}}}}}],"stop":null,"reasoning":{"effort":"low"},' +
      '"chat_template_kwargs":{"thinking":false},"a_future_field":{"x":[[]]}}';
    const head = `{"model":"${model}","messages":[{"role":"user","content":"ä \\u2028 \\"q\\""}],`;
    const body = `${head}"stream":true,"stream_options":{"include_usage":true},${rest}`;
    const response = await batchify(
      () =>
        fetch(`${base}/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          body,
        }),
      options({ cleanup: false }),
    );
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    expect(await response.text()).toContain('data: [DONE]');
    const [file = ''] = await inputFiles();
    expect(file).toMatch(/^\{"custom_id":"[\w-]{1,64}","body":\{.*\}\}\n$/);
    expect(file.slice(file.indexOf('"body":') + 7, -2)).toBe(head + rest);
  });

  it('of the SDK arrives with all its fields in their order', async () => {
    const body = {
      messages: [
        { role: 'system' as const, content: 'Sei höflich. 😀' },
        { role: 'user' as const, content: 'hello' },
      ],
      model,
      max_tokens: 7,
      temperature: 0.1,
      repetition_penalty: 1.0000001,
      logit_bias: { '1024': -10, '105': 21.4 },
      response_format: { type: 'json_object' as const },
      safety_model: 'some-model',
    };
    await batchify(() => client().chat.completions.create(body), options());
    const [execution] = simulator.meter.executions;
    expect(JSON.stringify(execution?.body)).toBe(JSON.stringify(body));
  });
});

/** Names the output file of a job later than its error file. */
function withLateOutput(): OpenAILike {
  let shown = 0;
  return {
    ...togetherDescription,
    name: 'late',
    batchObject(batch) {
      const { output_file_id: output, ...job } = togetherDescription.batchObject(batch);
      if (output === undefined) return job;
      shown += 1;
      return shown > 3 ? { ...job, output_file_id: output } : job;
    },
  };
}

describe('answers', () => {
  it('in a file that is named after the error file are waited for, not paid for again', async () => {
    const speed = { validating: 2, running: 5, finalizing: 2, cancelling: 2 };
    const late = await startSimulator({ speed, openaiLike: [withLateOutput()] });
    const baseURL = late.baseUrl('late');
    const outcomes = await batchify(
      () =>
        Promise.allSettled(
          ['fine', '[[status 400]]'].map((content) => ask(content, client({ baseURL }))),
        ),
      options({ hosts: { [baseURL]: 'together' } }),
    );
    expect(outcomes).toMatchObject([
      { value: expect.stringContaining('"fine"') },
      { reason: { status: 400 } },
    ]);
    expect(late.batches()).toHaveLength(1);
    expect(late.meter.total).toBe(1);
    await late.close();
  });

  it('come back to the SDK from one batch', async () => {
    const prompts = ['one', 'two', 'three'];
    expectAnswers(await askAll(prompts), prompts);
    expect(simulator.batches()).toMatchObject([{ provider: 'together', requests: 3 }]);
    expect(simulator.meter.total).toBe(3);
  });

  it('come as a stream where the SDK asks for one', async () => {
    const text = await batchify(async () => {
      const stream = await client().chat.completions.create({
        model,
        stream: true,
        messages: [{ role: 'user', content: 'streamed' }],
      });
      let told = '';
      for await (const { choices } of stream) told += choices[0]?.delta.content ?? '';
      return told;
    }, options());
    expect(text).toContain('answer to "streamed"');
    expect(simulator.meter.batched).toBe(1);
  });

  it('are on their way as far as the progress in percent says', async () => {
    const half = { outcome: 'cancelled', completedFraction: 0.5, stuckIn: 'in_progress' } as const;
    simulator.faults.nextBatch(half);
    scope = batchify(options({ batchSize: 8 }));
    let seen: unknown;
    scope.on('batch:polled', ({ counts }) => {
      seen = counts;
    });
    const prompts = Array.from({ length: 8 }, (_, at) => `prompt ${at}`);
    const asked = scope.run(() => Promise.allSettled(prompts.map((prompt) => ask(prompt))));
    await expect.poll(() => seen).toEqual({ total: 8, completed: 4, failed: 0 });
    await scope.cancel();
    await asked;
    await scope.close();
  });
});

describe('a line that fails', () => {
  it.each([
    [400, BadRequestError],
    [401, AuthenticationError],
    [403, PermissionDeniedError],
    [404, NotFoundError],
    [409, ConflictError],
    [413, APIError],
    [422, UnprocessableEntityError],
    [429, RateLimitError],
    [500, InternalServerError],
  ])("with %i raises the SDK's own error, once", async (status, ErrorClass) => {
    const [failed, fine] = await askAll([`[[status ${status}]]`, 'fine'], { attempts: 2 });
    const error = reasonOf(failed) as APIError;
    expect(error).toBeInstanceOf(ErrorClass);
    expect(error.status).toBe(status);
    expect(error.message).toContain(`simulated status ${status}`);
    expect(error.headers?.get('x-should-retry')).toBe('false');
    expect(fine).toMatchObject({ value: expect.stringContaining('"fine"') });
    // One capture per call: the SDK sent nothing a second time.
    expect(scope.stats).toMatchObject({ captured: 2, failed: 1 });
    const isTriedAgain = status === 429 || status === 500;
    expect(simulator.meter.failed).toBe(isTriedAgain ? 2 : 1);
  });

  it.each(['unstated', 'status 503', 'empty'])('and may pass is sent again: %s', async (marker) => {
    const prompts = [`[[once ${marker}]]`, 'fine'];
    expectAnswers(await askAll(prompts), prompts);
    expect(scope.stats).toMatchObject({ captured: 2, failed: 0, retried: 1 });
    expect(simulator.meter.executedTwice()).toEqual([]);
  });
});

describe('nothing runs twice', () => {
  it('although the answer to a create is lost: the batch is found by its file', async () => {
    simulator.configure({ foreignBatches: true });
    simulator.faults.add({ method: 'POST', path: '/v1/batches', action: { kind: 'lost' } });
    const prompts = ['one', 'two'];
    expectAnswers(await askAll(prompts), prompts);
    expect(simulator.countRequests('POST', '/v1/batches')).toBe(1);
    expect(simulator.countRequests('GET', '/v1/batches')).toBeGreaterThan(0);
    expect(simulator.meter.executedTwice()).toEqual([]);
  });

  it('although the bytes of a file, or where they go, are lost', async () => {
    const uploads = { method: 'PUT', path: /^\/uploads\// };
    simulator.faults.add({ ...uploads, action: { kind: 'lost' } });
    simulator.faults.add({ ...uploads, action: { kind: 'status', status: 403 } });
    const headers = { location: '' };
    const action = { kind: 'status', status: 302, body: '', headers } as const;
    simulator.faults.add({ method: 'POST', path: '/v1/files', action });
    expectAnswers(await askAll(['one']), ['one']);
    expect(simulator.countRequests('POST', '/v1/files')).toBe(4);
    expect(simulator.countRequests('POST', '/v1/batches')).toBe(1);
    expect(simulator.meter.total).toBe(1);
  });

  it('of a batch that expired: what has run is kept, the rest is sent again', async () => {
    simulator.faults.nextBatch({ outcome: 'expired', completedFraction: 0.5 });
    const prompts = ['one', 'two', 'three', 'four'];
    expectAnswers(await askAll(prompts), prompts);
    expect(simulator.batches().map(({ requests }) => requests)).toEqual([4, 2]);
    expect(simulator.meter.total).toBe(4);
  });

  it('of a scope that is cancelled: the batch is cancelled at the provider', async () => {
    simulator.hold();
    scope = batchify(options());
    const asked = scope.run(() => ask('never'));
    asked.catch(() => undefined);
    await until(() => scope.stats.batches.submitted === 1, 'the batch');
    await scope.cancel();
    await expect(asked).rejects.toMatchObject({ status: 499 });
    expect(simulator.countRequests('POST', /^\/v1\/batches\/[^/]+\/cancel$/)).toBe(1);
    simulator.release();
    await scope.close();
    await until(() => simulator.batches()[0]?.ending === 'cancelled', 'the cancelled batch');
    expect(simulator.meter.total).toBe(0);
  });
});

describe('a batch that is refused as a whole', () => {
  it('after its create tells every caller why', async () => {
    simulator.configure({ models: ['another-model'] });
    for (const outcome of await askAll(['one', 'two'])) {
      const error = reasonOf(outcome) as APIError;
      expect(error).toBeInstanceOf(BadRequestError);
      expect(error.message).toContain(`'${model}' is not supported by the Batch API`);
    }
    expect(simulator.countRequests('POST', '/v1/batches')).toBe(1);
  });

  it('by its create tells every caller why', async () => {
    const action = { kind: 'status', status: 400, body: { error: { message: 'No.' } } } as const;
    simulator.faults.add({ method: 'POST', path: '/v1/batches', action });
    const [outcome] = await askAll(['one']);
    expect((reasonOf(outcome) as APIError).message).toContain('No.');
  });

  it('by a warning instead of a job tells every caller what it says', async () => {
    const body = { warning: 'This model takes no batches.' };
    const action = { kind: 'status', status: 201, body } as const;
    simulator.faults.add({ method: 'POST', path: '/v1/batches', action });
    for (const outcome of await askAll(['one', 'two'])) {
      const error = reasonOf(outcome) as APIError;
      expect(error).toBeInstanceOf(BadRequestError);
      expect(error.message).toContain('This model takes no batches.');
    }
    expect(simulator.countRequests('POST', '/v1/batches')).toBe(1);
    expect(simulator.meter.total).toBe(0);
  });
});

describe('secrets', () => {
  it('go where they belong: the key to the API, no key to the storage, no URL anywhere', async () => {
    const told: unknown[] = [];
    const note = (...all: unknown[]) => void told.push(all);
    const logger = { debug: note, info: note, warn: note, error: note };
    const uploads = { method: 'PUT', path: /^\/uploads\// };
    simulator.faults.add({ ...uploads, action: { kind: 'status', status: 403 } });
    simulator.faults.add({ ...uploads, action: { kind: 'lost' } });
    const store = join(folder, 'secrets', 'ledger.db');
    expectAnswers(await askAll(['one'], { store, logger, keep: 'all' }), ['one']);

    const { requests } = simulator;
    const puts = requests.filter(({ method }) => method === 'PUT');
    expect(puts).toHaveLength(3);
    for (const { headers, account } of puts) {
      expect(account).toBeNull();
      expect(headers).not.toHaveProperty('authorization');
      expect(headers.host).toMatch(/^localhost:/);
    }
    for (const { headers } of requests.filter(({ method }) => method !== 'PUT')) {
      expect(headers.authorization).toBe('REDACTED');
      expect(headers.host).toMatch(/^127\.0\.0\.1:/);
    }
    const paths = new Set(requests.map(({ method, path }) => `${method} ${generic(path)}`));
    expect([...paths].sort()).toEqual([
      'DELETE /v1/files/…',
      'GET /v1/batches/…',
      'GET /v1/files/…/content',
      'POST /v1/batches',
      'POST /v1/files',
      'PUT /uploads/…',
    ]);

    const secrets = puts.flatMap(({ path, query }) => [
      path.split('/')[2] as string,
      new URLSearchParams(query).get('X-Amz-Signature') as string,
    ]);
    const shown = [JSON.stringify(told), ...(await filesAround(join(folder, 'secrets')))];
    expect(told.length).toBeGreaterThan(0);
    for (const text of shown) {
      for (const secret of [...secrets, key]) expect(text.includes(secret)).toBe(false);
    }
  });

  it.each(['https://api.together.ai/v1', 'https://api.together.xyz/v1'])(
    'do not go from %s to a place without encryption',
    async (baseURL) => {
      const dispatcher = leadingTo(`${simulator.url}/together`);
      scope = batchify(options({ hosts: {}, dispatcher }));
      const [outcome] = await scope.run(() =>
        Promise.allSettled([ask('one', client({ baseURL }))]),
      );
      await scope.close();
      await dispatcher.close();
      const error = reasonOf(outcome) as APIError;
      expect(error.status).toBe(502);
      expect(error.message).toContain('a signed URL has to be https');
      expect(error.message).not.toMatch(/uploads|Signature/);
      expect(simulator.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
        'POST /v1/files',
      ]);
    },
  );
});

it('lets calls pass that cannot be batched, and says so', async () => {
  scope = batchify(options({ bypass: 'ignore' }));
  const bypassed: string[] = [];
  scope.on('call:bypassed', ({ url }) => bypassed.push(url));
  const input = { model: 'some-embedder', input: 'text' };
  await scope.run(() =>
    client()
      .embeddings.create(input)
      .catch(() => undefined),
  );
  await scope.close();
  expect(bypassed).toEqual([`${base}/embeddings`]);
  expect(scope.stats.captured).toBe(0);
});

function generic(path: string): string {
  return path.replace(/^((?:\/v1)?\/(?:files|batches|uploads))\/[^/]+/, '$1/…');
}

async function filesAround(place: string): Promise<string[]> {
  const paths = (await readdir(place, { recursive: true })).map((name) => join(place, name));
  const texts: string[] = [];
  for (const path of paths) {
    if ((await stat(path)).isFile()) texts.push(path, (await readFile(path)).toString('latin1'));
  }
  return texts;
}

/** Every request ends here, whatever host it is for. */
function leadingTo(place: string): Dispatcher {
  const { origin, pathname } = new URL(place);
  return new Agent().compose(
    (dispatch) => (given, handler) =>
      dispatch({ ...given, origin, path: pathname + given.path }, handler),
  );
}
