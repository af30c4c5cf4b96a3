import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type BatchifyOptions, batchify } from '../../../src/index.ts';
import { ask, askClaude } from '../../support/ask.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { soon, until } from '../../support/until.ts';

/** What stands before the simulator does to a request of ours, by its body. */
type Trouble = (body: string, incoming: IncomingMessage) => 'hang' | number | undefined;

let stage: Stage;
/** Nobody whose trouble never ends is waited for. */
const leaving: (() => Promise<unknown>)[] = [];
let front: { url: string; struck: number; trouble: Trouble; close(): Promise<void> };

beforeAll(async () => {
  stage = await openStage();
  front = await startFront(stage.simulator.url);
});
afterAll(async () => {
  await front.close();
  await stage.close();
});
afterEach(async () => {
  for (const leave of leaving.splice(0)) await leave();
});
beforeEach(() => {
  stage.simulator.reset();
  front.struck = 0;
});

/** Faults of the simulator know no model; this reads what is sent. */
async function startFront(target: string) {
  const server = createServer({ keepAliveTimeout: 60_000 }, (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const body = Buffer.concat(chunks);
      const trouble = started.trouble(body.toString('utf8'), incoming);
      if (trouble !== undefined) started.struck += 1;
      if (trouble === undefined) passOn(incoming, body, outgoing);
      else if (trouble !== 'hang') {
        outgoing.writeHead(trouble, { 'content-type': 'application/json', 'retry-after': '1' });
        outgoing.end('{"error":{"message":"not now"}}');
      }
    });
  });
  const passOn = (incoming: IncomingMessage, body: Buffer, outgoing: ServerResponse) => {
    const { method, url = '/', headers } = incoming;
    const passed = request(new URL(url, target), { method, headers }, (reply) => {
      outgoing.writeHead(reply.statusCode ?? 500, reply.headers);
      reply.pipe(outgoing);
    });
    passed.on('error', () => outgoing.destroy());
    passed.end(body);
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const started = {
    url: `http://127.0.0.1:${port}`,
    struck: 0,
    trouble: (() => undefined) as Trouble,
    close() {
      server.closeAllConnections();
      return new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
  return started;
}

/** A scope that sends through the front; `ask` takes a model and answers with its text. */
function openScope(given: BatchifyOptions = {}) {
  const bases = { openai: `${front.url}/openai/v1`, anthropic: `${front.url}/anthropic` };
  const hosts = { [bases.openai]: 'openai', [bases.anthropic]: 'anthropic' } as const;
  const controller = new AbortController();
  const scope = batchify(stage.options({ hosts, signal: controller.signal, ...given }));
  const openai = stage.openai({ baseURL: bases.openai, maxRetries: 0 });
  const anthropic = stage.anthropic({ baseURL: bases.anthropic, maxRetries: 0 });
  const asked: Promise<unknown>[] = [];
  const keep = (promise: Promise<string>) => {
    asked.push(promise.catch(() => undefined));
    return promise;
  };
  leaving.push(() => {
    controller.abort(new Error('seen enough'));
    return Promise.all(asked);
  });
  return {
    openai: (model: string) => keep(scope.run(() => ask(openai, 'hello', model))),
    anthropic: (model: string) => keep(scope.run(() => askClaude(anthropic, 'hello', model))),
  };
}

const isUpload = ({ method, url }: IncomingMessage) => method === 'POST' && url?.endsWith('/files');
const isCreate = ({ method, url }: IncomingMessage) =>
  method === 'POST' && url?.endsWith('/messages/batches');

describe('a queue in trouble does not delay another', () => {
  it.each([500, 'hang'] as const)('when its uploads end with %s', async (trouble) => {
    front.trouble = (body, incoming) =>
      isUpload(incoming) && body.includes('gpt-a') ? trouble : undefined;
    const scope = openScope();
    scope.openai('gpt-a').catch(() => undefined);
    await until(() => front.struck > 0, 'the trouble');
    expect(await soon(scope.openai('gpt-b'))).toContain('from gpt-b');
    expect(await soon(scope.anthropic('claude-b'))).toContain('from claude-b');
  });

  it('when it has more batches than the account may have under way, and none gets through', async () => {
    front.trouble = (body, incoming) =>
      isUpload(incoming) && body.includes('gpt-a') ? 500 : undefined;
    const scope = openScope({ batchSize: 1, maxInFlight: 2 });
    for (const _ of [1, 2, 3]) scope.openai('gpt-a').catch(() => undefined);
    await until(() => front.struck > 1, 'the trouble');
    expect(await soon(scope.openai('gpt-b'))).toContain('from gpt-b');
  });

  it('when its tokens never fit', async () => {
    front.trouble = () => undefined;
    const { simulator } = stage;
    simulator.hold();
    // Room for one request of each model.
    simulator.configure({ limits: { openai: { enqueuedTokens: 4 } } });
    const scope = openScope();
    // Fills the limit of its model, and stays.
    scope.openai('gpt-a').catch(() => undefined);
    await until(
      () => simulator.batches().some(({ phase }) => phase === 'in_progress'),
      'the first',
    );
    scope.openai('gpt-a').catch(() => undefined);
    await until(() => simulator.batches().some(({ ending }) => ending === 'failed'), 'the refusal');
    const other = scope.openai('gpt-b');
    await until(() => simulator.batches().length === 3, 'the other batch');
    simulator.release();
    expect(await soon(other)).toContain('from gpt-b');
  });

  it('when creates for its model are refused for now', async () => {
    front.trouble = (body, incoming) =>
      isCreate(incoming) && body.includes('claude-a') ? 429 : undefined;
    const scope = openScope();
    scope.anthropic('claude-a').catch(() => undefined);
    await until(() => front.struck > 0, 'the trouble');
    expect(await soon(scope.anthropic('claude-b'))).toContain('from claude-b');
    expect(await soon(scope.openai('gpt-b'))).toContain('from gpt-b');
  });
});
