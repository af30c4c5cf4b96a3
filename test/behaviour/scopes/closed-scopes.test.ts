import { request } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type BatchifyOptions,
  type BatchingContext,
  batchify,
  realtime,
} from '../../../src/index.ts';
import { chatRequest } from '../../support/ask.ts';
import { bypassesOf, collectWarnings } from '../../support/escaping.ts';
import { received } from '../../support/servers/http-exchange.ts';
import { chatUrl, sourceOf } from '../../support/source-of.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

let stage: Stage;
let warned: ReturnType<typeof collectWarnings>;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => {
  stage.simulator.reset();
  warned = collectWarnings();
});
afterEach(() => warned.stop());

async function* answers() {
  yield await sourceOf(stage, 'one');
  yield await sourceOf(stage, 'two');
}

async function statusOf(): Promise<number> {
  return (await fetch(chatUrl(stage), chatRequest('late'))).status;
}

async function closedScope(given: BatchifyOptions = {}): Promise<BatchingContext> {
  const scope = batchify(stage.options(given));
  await scope.close();
  return scope;
}

it('a generator whose body runs after its scope has closed is reported with the cure', async () => {
  const sources: string[] = [];
  for await (const source of await batchify(answers, stage.options())) sources.push(source);
  expect(sources).toEqual(['plain', 'plain']);
  await until(() => warned.warnings.length > 0, 'the warning');
  expect(warned.warnings).toEqual([expect.stringContaining('Consume generators')]);
});

describe('the generator that a scope returned', () => {
  it('is held back where bypasses are errors', async () => {
    const generator = await batchify(
      async function* () {
        yield await statusOf();
      },
      stage.options({ bypass: 'error' }),
    );
    expect(await generator.next()).toEqual({ done: false, value: 400 });
    expect(stage.simulator.meter.total).toBe(0);
  });

  it('is the same object, and works as before', async () => {
    const made = (function* (): Generator<number, string, number> {
      const given = yield 1;
      try {
        yield given;
      } finally {
        yield 3;
      }
      return 'end';
    })();
    const generator = await batchify(() => made, stage.options());
    expect(generator).toBe(made);
    expect(Object.keys(generator)).toEqual([]);
    const seen = [generator.next(), generator.next(2), generator.return('early'), generator.next()];
    expect(seen.map(({ value }) => value)).toEqual([1, 2, 3, 'early']);
  });

  it('belongs to another scope in which it is consumed', async () => {
    const generator = await batchify(answers, stage.options());
    const scope = batchify(stage.options());
    const sources = await scope.run(async () => {
      const all: string[] = [];
      for await (const source of generator) all.push(source);
      return all;
    });
    await scope.close();
    expect(sources).toEqual(['batch', 'batch']);
  });

  it('is not reported inside of realtime', async () => {
    const generator = await batchify(answers, stage.options({ bypass: 'error' }));
    expect(await realtime(() => generator.next())).toEqual({ done: false, value: 'plain' });
  });
});

describe('code that outlives its scope', () => {
  it('has each of its LLM calls reported, by fetch, bind and scope.fetch', async () => {
    const scope = batchify(stage.options());
    const bypasses = bypassesOf(scope);
    const bound = scope.bind(() => sourceOf(stage));
    let goOn = () => {};
    const isClosed = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const later = scope.run(() => isClosed.then(() => sourceOf(stage)));
    await scope.close();
    goOn();
    const sources = [await later, await bound(), await sourceOf(stage, 'own', scope.fetch)];
    expect(sources).toEqual(['plain', 'plain', 'plain']);
    expect(bypasses).toHaveLength(3);
    for (const { reason } of bypasses) expect(reason).toContain('closed');
  });

  it('is held back where bypasses are errors', async () => {
    const scope = await closedScope({ bypass: 'error' });
    expect(await scope.bind(statusOf)()).toBe(400);
    expect(stage.simulator.meter.total).toBe(0);
  });

  it('is held back on node:http, too, as long as any scope keeps the hook in place', async () => {
    const other = batchify(stage.options());
    const scope = await closedScope({ bypass: 'error' });
    const { body, ...post } = chatRequest('late');
    const send = () => received(request(chatUrl(stage), post).end(body));
    const { status } = await scope.bind(send)();
    await other.close();
    expect(status).toBe(400);
  });

  it('has LLM calls to unnamed hosts reported as well, and nothing else', async () => {
    const scope = await closedScope({ bypass: 'error', hosts: {} });
    const files = `${stage.simulator.baseUrl('openai')}/files`;
    const list = scope.bind(() => fetch(files, { headers: { authorization: 'Bearer k' } }));
    expect([await scope.bind(statusOf)(), (await list()).status]).toEqual([400, 200]);
  });

  it('is captured by the scope around it', async () => {
    const outer = batchify(stage.options());
    const inner = await outer.run(() => closedScope());
    expect(await inner.bind(() => sourceOf(stage))()).toBe('batch');
    await outer.close();
  });

  it('is not reported with the header and inside of realtime', async () => {
    const scope = await closedScope({ bypass: 'error' });
    const off = () => fetch(chatUrl(stage), chatRequest('off', { 'x-batchling': 'off' }));
    expect((await scope.bind(off)()).status).toBe(200);
    expect(await scope.bind(() => realtime(statusOf))()).toBe(200);
  });
});
