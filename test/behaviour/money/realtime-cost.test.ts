import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type BatchingContext, type BatchlingEvents, batchify } from '../../../src/index.ts';
import { summaryLine } from '../../../src/report/text/summary.ts';
import { ask } from '../../support/ask.ts';
import { openStage, type Stage } from '../../support/stage.ts';

const model = 'gpt-4o-mini';
const perMillion = { input: 0.15, output: 0.6 };

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

function answeredBy(scope: BatchingContext): BatchlingEvents['call:answered'][] {
  const events: BatchlingEvents['call:answered'][] = [];
  scope.on('call:answered', (event) => events.push(event));
  return events;
}

const bill = (input: number, output: number) =>
  (input * perMillion.input + output * perMillion.output) / 1_000_000;

describe('a realtime call of ours', () => {
  it('is counted with its tokens, at the full price', async () => {
    const scope = batchify(stage.options({ minBatch: 100 }));
    const events = answeredBy(scope);
    const text = await scope.run(() => ask(stage.openai(), 'what does it cost?', model));
    await scope.close();
    expect(text).toContain('what does it cost?');
    const [event] = events;
    const { inputTokens = 0, outputTokens = 0 } = event ?? {};
    expect([inputTokens, outputTokens].every((tokens) => tokens > 0)).toBe(true);
    const paid = bill(inputTokens, outputTokens);
    expect(event?.dollars?.paid).toBeCloseTo(paid, 12);
    expect(scope.stats.dollars.saved).toBe(0);
    expect(scope.stats.dollars.paid).toBe(scope.stats.dollars.realtime);
    expect(scope.stats.tokens).toMatchObject({ input: inputTokens, output: outputTokens });
    expect(summaryLine(scope.stats)).toMatch(/1 in realtime at full price \(\$0\.0000\d+\)/);
  });

  it('that is a stream, an error or without a known price is counted without one', async () => {
    const scope = batchify(stage.options({ minBatch: 100 }));
    const client = stage.openai({ maxRetries: 0 });
    await scope.run(async () => {
      const messages = [{ role: 'user' as const, content: 'x' }];
      const stream = await client.chat.completions.create({ model, messages, stream: true });
      for await (const _ of stream);
      await ask(client, 'nobody knows my price', 'gpt-nobody');
      await expect(ask(client, '[[status 404]]', model)).rejects.toThrow();
    });
    await scope.close();
    expect(scope.stats).toMatchObject({ realtime: 3, dollars: { paid: 0, realtime: 0 } });
  });

  it('reaches its caller before its body is there, and close waits for the bill', async () => {
    const held: ServerResponse[] = [];
    const server = createServer((incoming, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
      incoming.resume().once('end', () => held.push(response));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    const options = stage.options({ minBatch: 100, hosts: { [base]: 'openai' } });
    const scope = batchify(options);
    const body = JSON.stringify({ model, messages: [] });
    const headers = { authorization: 'Bearer sk-test-key', 'content-type': 'application/json' };
    const send = () => fetch(`${base}/chat/completions`, { method: 'POST', headers, body });
    const response = await scope.run(send);
    expect(response.headers.get('x-batchling-source')).toBe('realtime');
    const closed = scope.close();
    const usage = { prompt_tokens: 1_000, completion_tokens: 10 };
    held[0]?.end(JSON.stringify({ choices: [], usage }));
    expect(await response.json()).toEqual({ choices: [], usage });
    await closed;
    expect(scope.stats.dollars.realtime).toBeCloseTo(bill(1_000, 10), 12);
    server.close().closeAllConnections();
  });
});

describe('the summary', () => {
  const { stats } = batchify({ store: ':memory:', hooks: false });

  it('counts what was not batched', () => {
    const told = summaryLine({ ...stats, answered: 3, realtime: 2, bypassed: 1 });
    expect(told).toContain('2 in realtime at full price');
    expect(told).toContain('1 bypassed at full price');
  });

  it('says nothing of it where all was batched', () => {
    expect(summaryLine({ ...stats, answered: 3 })).not.toContain('full price');
  });
});
