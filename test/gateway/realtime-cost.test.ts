import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openStage, type Stage } from '../support/stage.ts';
import { chatBody, chatRequest, type GatewayProcess, startGateway } from './start-gateway.ts';

let stage: Stage;
let gateway: GatewayProcess;

beforeAll(async () => {
  stage = await openStage();
  gateway = await startGateway(stage);
});
afterAll(async () => {
  await gateway.kill();
  await stage.close();
});
beforeEach(() => stage.simulator.reset());

/** 1,000 tokens, 900 of them cached, and 100 of output by gpt-5-mini. */
const usage = {
  prompt_tokens: 1_000,
  prompt_tokens_details: { cached_tokens: 900 },
  completion_tokens: 100,
};
const bill = (100 * 0.25 + 900 * 0.025 + 100 * 2) / 1_000_000;
const choices = [{ index: 0, message: { role: 'assistant', content: 'Yes.' } }];
const completion = { id: 'c', object: 'chat.completion', model: 'gpt-5-mini', choices, usage };

async function counted({ metric } = gateway) {
  return {
    paid: await metric('dollars_paid_total'),
    realtime: await metric('dollars_realtime_total'),
    input: await metric('tokens_total{kind="input"}'),
    output: await metric('tokens_total{kind="output"}'),
  };
}

/** What the gateway counts for a call; its answer is read first. */
async function costOf(asked: () => Promise<Response>, of = gateway) {
  const before = await counted(of);
  const response = await asked();
  await response.text();
  await of.reaches('dollars_paid_total', before.paid + 1e-12);
  const after = await counted(of);
  return {
    source: response.headers.get('x-batchling-source'),
    paid: after.paid - before.paid,
    realtime: after.realtime - before.realtime,
    tokens: [after.input - before.input, after.output - before.output],
  };
}

describe('a call that goes out at full price through the gateway is priced, and says so', () => {
  it.each([
    ['because its batch would be too small', { 'x-batchling-min-batch': '100' }],
    ['because its client wants it', { 'x-batchling': 'off' }],
  ])('%s', async (_why, headers) => {
    stage.simulator.configure({ answer: () => ({ ...completion }) });
    const { source, paid, realtime, tokens } = await costOf(() => gateway.ask('now', headers));
    expect(source).toBe('realtime');
    expect(paid).toBeCloseTo(bill, 12);
    expect(realtime).toBeCloseTo(bill, 12);
    expect(tokens).toEqual([1_000, 100]);
  });

  it('because its time is over', async () => {
    stage.simulator.configure({ answer: () => ({ ...completion }) });
    stage.simulator.hold();
    const { source, paid } = await costOf(() =>
      gateway.ask('late', {
        'x-batchling-deadline': '50ms',
        'x-batchling-on-deadline': 'realtime',
      }),
    );
    expect(source).toBe('realtime');
    expect(paid).toBeCloseTo(bill, 12);
  });

  it('as a stream of OpenAI, where the client wants to know its usage', async () => {
    stage.simulator.configure({ answer: () => ({ ...completion }) });
    const body = chatBody('stream', { stream: true, stream_options: { include_usage: true } });
    const init = { ...chatRequest('', { 'x-batchling': 'off' }), body };
    const asked = () => fetch(`${gateway.url}/openai/v1/chat/completions`, init);
    expect((await costOf(asked)).paid).toBeCloseTo(bill, 12);
  });

  it('as a stream of Anthropic', async () => {
    const message = { id: 'm', type: 'message', role: 'assistant', model: 'claude-haiku-4-5' };
    const taken = { input_tokens: 10, cache_creation_input_tokens: 1_000, output_tokens: 20 };
    const content = [{ type: 'text', text: 'Yes.' }];
    const answer = { ...message, content, stop_reason: 'end_turn', usage: taken };
    stage.simulator.configure({ answer: () => answer });
    const asked = () =>
      fetch(`${gateway.url}/anthropic/v1/messages`, {
        method: 'POST',
        headers: {
          ...{ 'content-type': 'application/json', 'x-api-key': 'sk-ant', 'x-batchling': 'off' },
          'anthropic-version': '2023-06-01',
        },
        body: JSON.stringify({
          ...{ model: 'claude-haiku-4-5', max_tokens: 9, stream: true },
          messages: [{ role: 'user', content: 'stream' }],
        }),
      });
    const { paid, tokens } = await costOf(asked);
    expect(paid).toBeCloseTo((10 * 1 + 1_000 * 1.25 + 20 * 5) / 1_000_000, 12);
    expect(tokens).toEqual([1_010, 20]);
  });

  it('as an answer that is compressed', async () => {
    const server = createServer((request, response) => {
      request.resume().once('end', () => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
        response.end(gzipSync(JSON.stringify(completion)));
      });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    const environment = { BATCHLING_HOSTS: `${base}=openai` };
    const other = await startGateway(stage, { environment });
    const { paid } = await costOf(() => other.ask('now', { 'x-batchling': 'off' }), other);
    expect(paid).toBeCloseTo(bill, 12);
    await other.kill();
    server.close().closeAllConnections();
  });
});
