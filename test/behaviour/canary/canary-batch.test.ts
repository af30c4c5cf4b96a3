import type OpenAI from 'openai';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type BatchifyOptions, batchify } from '../../../src/index.ts';
import type { SimulatedRequest } from '../../../src/simulator/index.ts';
import { hearStderr } from '../../support/heard.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { together } from '../../support/together.ts';
import { until } from '../../support/until.ts';

let stage: Stage;

beforeEach(async () => {
  stage = await openStage();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await stage.close();
});

const words = "Invalid schema for response_format 'Invoice': 'total' has no type.";
const badSchema = ({ body }: SimulatedRequest) =>
  'response_format' in body
    ? {
        status: 400,
        body: { error: { message: words, type: 'invalid_request_error', code: 'bad' } },
      }
    : undefined;

function askFor(client: OpenAI, content: string, schema?: string) {
  const json_schema =
    schema === undefined ? undefined : { name: schema, schema: { type: 'object' } };
  return client.chat.completions.create({
    model: 'gpt-test',
    messages: [{ role: 'user', content }],
    ...(json_schema && { response_format: { type: 'json_schema', json_schema } }),
  });
}

function prompts(count: number): string[] {
  return Array.from({ length: count }, (_, at) => `Question ${at}`);
}

/** The sizes of the batches that were created, in their order. */
function sizes(): number[] {
  const counts = new Map<string, number>();
  const { executions, failures } = stage.simulator.meter;
  for (const { batchId } of [...executions, ...failures].sort((a, b) => a.n - b.n)) {
    if (batchId !== null) counts.set(batchId, (counts.get(batchId) ?? 0) + 1);
  }
  return [...counts.values()];
}

async function run(
  program: (client: OpenAI) => Promise<unknown>,
  given: BatchifyOptions = {},
): Promise<string[]> {
  const heard = hearStderr();
  const client = stage.openai({ maxRetries: 0 });
  const options = stage.options({ canary: 'batch', display: 'plain', ...given });
  await batchify(() => program(client), options);
  return heard.lines().filter((line) => line.includes('checked one request'));
}

const statuses = (results: PromiseSettledResult<unknown>[]) =>
  new Set(
    results.map((one) =>
      one.status === 'fulfilled' ? 200 : (one.reason as { status: number }).status,
    ),
  );

describe('a canary in a batch of one', () => {
  it('goes ahead of the others, which follow in one batch', async () => {
    const said = await run((client) => Promise.all(prompts(20).map((one) => askFor(client, one))));
    expect(sizes()).toEqual([1, 19]);
    expect(said).toEqual([expect.stringContaining('checked one request of gpt-test: 200')]);
  });

  it('that is refused stops its kind, and the kind beside it in the same queue goes on', async () => {
    stage.simulator.configure({ answer: badSchema });
    let bad: PromiseSettledResult<unknown>[] = [];
    let good: PromiseSettledResult<unknown>[] = [];
    const said = await run(async (client) => {
      const ask = (schema?: string) =>
        Promise.allSettled(prompts(50).map((one) => askFor(client, one, schema)));
      [bad, good] = await Promise.all([ask('Invoice'), ask()]);
    }, together(100));
    expect(statuses(bad)).toEqual(new Set([400]));
    expect(bad.every((one) => String((one as PromiseRejectedResult).reason).includes(words))).toBe(
      true,
    );
    expect(statuses(good)).toEqual(new Set([200]));
    expect(sizes().sort((a, b) => a - b)).toEqual([1, 1, 49]);
    expect(said.join('\n').match(/Invalid schema/g)).toHaveLength(1);
    expect(said).toContainEqual(
      expect.stringMatching(
        /checked one request of gpt-test \(schema Invoice\): 400 Invalid schema .*49 other calls like it were not sent/,
      ),
    );
  });

  it('that is refused stops later calls of its kind, too, and counts them as failed', async () => {
    stage.simulator.configure({ answer: badSchema });
    const client = stage.openai({ maxRetries: 0 });
    const scope = batchify(stage.options({ canary: 'batch' }));
    await scope.run(() => Promise.allSettled(prompts(5).map((one) => askFor(client, one, 'A'))));
    const later = await scope.run(() =>
      Promise.allSettled(['later', 'and later'].map((one) => askFor(client, one, 'A'))),
    );
    await scope.close();
    expect(statuses(later)).toEqual(new Set([400]));
    expect(sizes()).toEqual([1]);
    expect(scope.stats).toMatchObject({ captured: 7, answered: 7, failed: 7 });
  });

  it.each([429, 500, 503])('that meets status %s lets the others go on', async (status) => {
    let first: string | undefined;
    stage.simulator.configure({
      answer: ({ prompt, asked }) => {
        first ??= prompt;
        return prompt === first && asked === 1 ? { status } : undefined;
      },
    });
    const said = await run((client) => Promise.all(prompts(6).map((one) => askFor(client, one))));
    expect(sizes()).toEqual([1, 6]);
    expect(said).toEqual([]);
  });

  it('tells schemas, tools and fields apart, and nothing else', async () => {
    await run(async (client) => {
      const ask = (more: object) =>
        prompts(4).map((content) =>
          client.chat.completions.create({
            model: 'gpt-test',
            messages: [{ role: 'user', content }],
            ...more,
          } as OpenAI.ChatCompletionCreateParamsNonStreaming),
        );
      const tool = (name: string) => ({
        tools: [{ type: 'function', function: { name, parameters: { type: 'object' } } }],
      });
      await Promise.all(
        [ask({ temperature: 0 }), ask({ temperature: 1 }), ask({ top_p: 1 })].flat(),
      );
      await Promise.all([ask(tool('look')), ask(tool('find'))].flat());
    });
    // Three kinds of four or eight, then two: each with its canary, the rest of each by itself.
    expect(sizes().filter((size) => size === 1)).toHaveLength(4);
  });
});

describe('a kind that was answered before', () => {
  it('needs no canary in a later run of the same ledger', async () => {
    const store = stage.newStore();
    await run((client) => Promise.all(prompts(5).map((one) => askFor(client, one))), { store });
    const said = await run(
      (client) => Promise.all(['six', 'seven', 'eight'].map((one) => askFor(client, one))),
      { store },
    );
    expect(sizes()).toEqual([1, 4, 3]);
    expect(said).toEqual([]);
  });

  it('that was refused is tried again in a later run', async () => {
    const store = stage.newStore();
    stage.simulator.configure({ answer: badSchema });
    const all = (client: OpenAI) =>
      Promise.allSettled(prompts(3).map((one) => askFor(client, one, 'A')));
    await run(all, { store });
    stage.simulator.configure({ answer: null });
    await run(all, { store });
    expect(sizes()).toEqual([1, 1, 2]);
  });
});

describe('a canary whose caller leaves', () => {
  it('is followed by another one', async () => {
    stage.simulator.faults.add({
      method: 'POST',
      path: '/v1/files',
      action: { kind: 'delay', ms: 150 },
    });
    const leave = new AbortController();
    await run(async (client) => {
      const first = client.chat.completions.create(
        { model: 'gpt-test', messages: [{ role: 'user', content: 'I will leave' }] },
        { signal: leave.signal },
      );
      const rest = Promise.all(prompts(5).map((one) => askFor(client, one)));
      await until(() => stage.simulator.requests.some(({ path }) => path === '/v1/files'));
      leave.abort();
      await expect(first).rejects.toThrow();
      await rest;
    });
    expect(sizes()).toEqual([1, 4]);
  });

  it('with all the others leaves nothing behind', async () => {
    stage.simulator.configure({ speed: { running: 100_000 } });
    const scope = batchify(stage.options({ canary: 'batch' }));
    const client = stage.openai({ maxRetries: 0 });
    const waiting = scope.run(() =>
      Promise.allSettled(prompts(5).map((one) => askFor(client, one))),
    );
    await until(() => scope.stats.batches.submitted === 1);
    await scope.cancel();
    expect(statuses(await waiting)).toEqual(new Set([499]));
    await scope.close();
  });
});

it('a key that is refused is told to all of its kind', async () => {
  stage.simulator.faults.add({
    method: 'POST',
    path: '/v1/files',
    times: 100,
    action: { kind: 'status', status: 401, body: { error: { message: 'Incorrect API key' } } },
  });
  let results: PromiseSettledResult<unknown>[] = [];
  await run(async (client) => {
    results = await Promise.allSettled(prompts(5).map((one) => askFor(client, one)));
  });
  expect(statuses(results)).toEqual(new Set([401]));
});
