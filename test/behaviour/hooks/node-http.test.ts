import { type ClientRequest, request } from 'node:http';
import axios, { AxiosError } from 'axios';
import got from 'got';
import nodeFetch from 'node-fetch';
import superagent from 'superagent';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type BatchingContext, batchify, realtime } from '../../../src/index.ts';
import { chatRequest } from '../../support/ask.ts';
import { received } from '../../support/servers/http-exchange.ts';
import { chatUrl } from '../../support/source-of.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { soon, until } from '../../support/until.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

const patient = { window: '1h', maxWindow: '1h' } as const;

interface Reply {
  readonly status: number | undefined;
  readonly source: unknown;
  readonly body: string;
}

/** Asks by `node:http` alone. */
async function ask(prompt: string, headers: Record<string, string> = {}): Promise<Reply> {
  const { body, ...options } = chatRequest(prompt, headers);
  const reply = await received(request(chatUrl(stage), options).end(body));
  return { ...reply, source: reply.headers['x-batchling-source'] };
}

const clients: [name: string, ask: (prompt: string) => Promise<Reply>][] = [
  ['node:http', ask],
  [
    'axios',
    async (prompt) => {
      const { body, headers } = chatRequest(prompt);
      const reply = await axios.post<unknown>(chatUrl(stage), body, { headers });
      const source: unknown = reply.headers['x-batchling-source'];
      return { status: reply.status, source, body: JSON.stringify(reply.data) };
    },
  ],
  [
    'got',
    async (prompt) => {
      const { body, headers } = chatRequest(prompt);
      const reply = await got.post(chatUrl(stage), { body, headers });
      const source = reply.headers['x-batchling-source'];
      return { status: reply.statusCode, source, body: reply.body };
    },
  ],
  [
    'node-fetch',
    async (prompt) => {
      const reply = await nodeFetch(chatUrl(stage), chatRequest(prompt));
      const source = reply.headers.get('x-batchling-source');
      return { status: reply.status, source, body: await reply.text() };
    },
  ],
  [
    'superagent',
    async (prompt) => {
      const { body, headers } = chatRequest(prompt);
      const sent: unknown = await superagent.post(chatUrl(stage)).set(headers).send(body);
      const reply = sent as { status: number; headers: Record<string, string>; text: string };
      const source = reply.headers['x-batchling-source'];
      return { status: reply.status, source, body: reply.text };
    },
  ],
];

describe.each(clients)('%s in a scope', (_name, send) => {
  it('is batched: every call has its own answer', async () => {
    const prompts = ['one', 'two', 'three'];
    const scope = batchify(stage.options());
    const replies = await soon(scope.run(() => Promise.all(prompts.map(send))));
    await scope.close();
    for (const [index, { status, source, body }] of replies.entries()) {
      expect([status, source]).toEqual([200, 'batch']);
      expect(body).toMatch(new RegExp(`answer to \\W+${prompts[index]}\\W`));
    }
    expect(scope.stats).toMatchObject({ captured: 3, answered: 3, bypassed: 0 });
    expect(stage.simulator.meter).toMatchObject({ batched: 3, realtime: 0 });
  });

  it('is not batched outside of it', async () => {
    const scope = batchify(stage.options());
    const { status, source } = await send('outside');
    await scope.close();
    expect([status, source ?? undefined]).toEqual([200, undefined]);
    expect(stage.simulator.meter).toMatchObject({ batched: 0, realtime: 1 });
  });
});

describe('a call by node:http', () => {
  it('joins the batch of calls by fetch', async () => {
    const scope = batchify(stage.options(patient));
    const byFetch = () => fetch(chatUrl(stage), chatRequest('by fetch'));
    const asked = scope.run(() => Promise.all([ask('by http'), byFetch()]));
    await until(() => scope.stats.captured === 2, 'the calls');
    await scope.flush();
    await soon(asked);
    await scope.close();
    expect(scope.stats).toMatchObject({ captured: 2, batches: { submitted: 1 } });
  });

  it('goes out unchanged inside `realtime`, and with the header, which is removed', async () => {
    const { simulator } = stage;
    const options = stage.options({ bypass: 'error' });
    const both = () => Promise.all([realtime(() => ask('a')), ask('b', { 'x-batchling': 'off' })]);
    const replies = await soon(batchify(both, options));
    expect(replies.map(({ status, source }) => [status, source])).toEqual([
      [200, undefined],
      [200, undefined],
    ]);
    expect(simulator.meter).toMatchObject({ batched: 0, realtime: 2 });
    const names = simulator.requests.flatMap(({ headers }) => Object.keys(headers));
    expect(names).not.toContain('x-batchling');
  });

  it('goes out at full price, with a warning, when it cannot be batched', async () => {
    const scope = batchify(stage.options({ bypass: 'ignore' }));
    const reasons: string[] = [];
    scope.on('call:bypassed', ({ reason }) => reasons.push(reason));
    const { headers } = chatRequest('');
    const options = { method: 'POST', headers };
    const sending = scope.run(() => request(chatUrl(stage), options));
    const { status } = await soon(received(sending.end(Buffer.from([0xff, 0xfe]))));
    await scope.close();
    expect([status, reasons]).toEqual([400, ['its body is not JSON text']]);
  });
});

describe('a call that its client gives up', () => {
  function start(scope: BatchingContext, prompt: string): [ClientRequest, Promise<unknown>] {
    const { body, ...options } = chatRequest(prompt);
    const sending = scope.run(() => request(chatUrl(stage), options)).end(body);
    const outcome = received(sending).then(
      () => undefined,
      (error: unknown) => error,
    );
    return [sending, outcome];
  }

  it('because its user aborts it is never sent', async () => {
    const scope = batchify(stage.options(patient));
    const [sending, outcome] = start(scope, 'unwanted');
    await until(() => scope.stats.captured === 1, 'the call');
    const reason = new Error('not needed any more');
    sending.destroy(reason);
    expect(await soon(outcome)).toBe(reason);
    await soon(scope.close());
    expect(stage.simulator.meter.total).toBe(0);
  });

  it('at its own deadline is kept for the next client that asks the same', async () => {
    const { simulator } = stage;
    simulator.hold();
    const scope = batchify(stage.options());
    const { body, headers } = chatRequest('slow');
    const post = (timeout: number) =>
      scope.run(() => axios.post(chatUrl(stage), body, { headers, timeout }));
    const error = await soon(post(100).catch((failure: unknown) => failure));
    expect(error).toBeInstanceOf(AxiosError);
    await until(() => scope.stats.batches.submitted === 1, 'the batch');
    const again = post(0);
    await until(() => scope.stats.captured === 2, 'the second call');
    simulator.release();
    expect((await soon(again)).status).toBe(200);
    await soon(scope.close());
    expect(simulator.meter).toMatchObject({ batched: 1, realtime: 0 });
  });
});
