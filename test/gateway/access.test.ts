import { writeFile } from 'node:fs/promises';
import { createServer as createHttpServer, type IncomingHttpHeaders } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli, startCli, variablesOf } from '../support/processes/run-cli.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { until } from '../support/until.ts';
import { type GatewayProcess, startGateway, textOf } from './start-gateway.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage({ answer: ({ prompt }) => `You asked: ${prompt}` });
});

afterAll(() => stage.close());

describe('a gateway with a token and keys of its own', () => {
  it('serves who has the token, with its own keys', async () => {
    const gateway = await startGateway(stage, {
      flags: ['--credentials', 'env'],
      environment: { BATCHLING_TOKEN: 'a-token', OPENAI_API_KEY: 'sk-of-the-gateway' },
    });
    const token = { 'x-batchling-token': 'a-token' };
    const keys = () => new Set(stage.simulator.meter.executions.map(({ key }) => key));
    expect(await textOf(await gateway.ask('with token', token))).toBe('You asked: with token');
    const other = await gateway.ask('other key', { ...token, authorization: 'Bearer sk-mine' });
    expect(await textOf(other)).toBe('You asked: other key');
    expect(keys().size).toBe(1);

    for (const wrong of [{}, { 'x-batchling-token': 'A-token' }, { 'x-batchling-token': '' }]) {
      const response = await gateway.ask('without', wrong as Record<string, string>);
      expect(response.status).toBe(401);
      expect(await response.json()).toMatchObject({ error: { type: 'batchling_wrong_token' } });
    }
    expect((await fetch(`${gateway.url}/metrics`)).status).toBe(401);
    expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);
    const keyless = await fetch(`${gateway.url}/anthropic/v1/messages`, {
      method: 'POST',
      headers: { ...token, 'content-type': 'application/json' },
      body: '{}',
    });
    expect(keyless.status).toBe(403);
    expect(await keyless.json()).toMatchObject({
      type: 'error',
      error: { type: 'batchling_no_credential' },
    });
    await gateway.kill();
    expect(stage.simulator.meter.total).toBe(2);
  });
});

it('shows an address that a client can use, not the one that stands for all', async () => {
  const flags = ['serve', '--host', '0.0.0.0', '--port', '0', '--token', 'secret'];
  const gateway = await startCli(flags, { environment: variablesOf(stage) });
  try {
    await until(() => gateway.stdout().includes('/healthz'), 'the banner');
    const banner = gateway.stdout();
    expect(banner).toContain('listens on all addresses of this machine');
    expect(banner).not.toContain('0.0.0.0');
    const [url = ''] = /http:\S+\/healthz/.exec(banner) ?? [];
    expect((await fetch(url, { headers: { 'x-batchling-token': 'secret' } })).status).toBe(200);
  } finally {
    gateway.process.kill('SIGTERM');
    await gateway.ended;
  }
});

describe('a gateway with keys of its own', () => {
  /** What a provider has got: path with query, and headers. */
  const got: { url: string; headers: IncomingHttpHeaders }[] = [];
  const provider = createHttpServer((request, response) => {
    got.push({ url: request.url ?? '', headers: request.headers });
    request.resume();
    response.end('{}');
  });
  let gateway: GatewayProcess;

  beforeAll(async () => {
    await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
    const { port } = provider.address() as { port: number };
    const base = `http://127.0.0.1:${port}`;
    gateway = await startGateway(stage, {
      flags: ['--credentials', 'env'],
      environment: {
        BATCHLING_TOKEN: 'a-token',
        BATCHLING_HOSTS: `${base}/v1=openai,${base}/v1beta=google`,
        OPENAI_API_KEY: 'sk-of-the-gateway',
        GEMINI_API_KEY: 'g-of-the-gateway',
      },
    });
  });

  afterAll(async () => {
    await gateway.kill();
    provider.close();
  });

  async function send(path: string, headers: Record<string, string>): Promise<number> {
    got.length = 0;
    const { status } = await fetch(`${gateway.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-batchling': 'off', ...headers },
      body: '{"model":"gpt-5-mini"}',
    });
    return status;
  }

  it('sends them without the organisation and the project of the client', async () => {
    const status = await send('/openai/v1/chat/completions', {
      'x-batchling-token': 'a-token',
      authorization: 'Bearer sk-mine',
      'openai-organization': 'org-mine',
      'openai-project': 'proj-mine',
    });
    expect(status).toBe(200);
    expect(got[0]?.headers.authorization).toBe('Bearer sk-of-the-gateway');
    expect(JSON.stringify(got)).not.toMatch(/mine|a-token/);
  });

  it('sends them without a key in the query of the client', async () => {
    const path = '/google/v1beta/models/gemini-2.5-flash:generateContent?key=g-mine&alt=json';
    expect(await send(path, { 'x-batchling-token': 'a-token' })).toBe(200);
    expect(got[0]?.headers['x-goog-api-key']).toBe('g-of-the-gateway');
    expect(got[0]?.url).toBe('/v1beta/models/gemini-2.5-flash:generateContent?alt=json');
  });

  it.each([
    ['authorization', 'Bearer a-token'],
    ['x-api-key', 'a-token'],
    ['x-goog-api-key', 'a-token'],
    ['api-key', 'a-token'],
  ])('takes its token in the place of an API key, and keeps it: %s', async (name, value) => {
    expect(await send('/openai/v1/chat/completions', { [name]: value })).toBe(200);
    expect(got[0]?.headers.authorization).toBe('Bearer sk-of-the-gateway');
    expect(JSON.stringify(got)).not.toContain('a-token');
    expect(await send('/openai/v1/chat/completions', { [name]: `${value}x` })).toBe(401);
    expect(got).toEqual([]);
  });
});

it('a gateway whose clients bring their keys takes no key for its token', async () => {
  const gateway = await startGateway(stage, { flags: ['--token', 'a-token'] });
  const asked = await gateway.ask('hello', { authorization: 'Bearer a-token' });
  expect(asked.status).toBe(401);
  await gateway.kill();
});

describe('it does not start', () => {
  const serve = (flags: string[], environment = {}) =>
    runCli(['serve', ...flags], {
      folder: stage.folder,
      environment: { ...variablesOf(stage), ...environment },
    });

  it.each([
    ['for other machines without a token', ['--host', '0.0.0.0'], 'BATCHLING_TOKEN'],
    ['for other machines by IPv6 without a token', ['--host', '::'], 'BATCHLING_TOKEN'],
    ['at an address of a network without a token', ['--host', '192.168.1.5'], 'BATCHLING_TOKEN'],
    ['at a name of a network without a token', ['--host', '127.lan.example'], 'BATCHLING_TOKEN'],
    ['with its own keys without a token', ['--credentials', 'env'], 'BATCHLING_TOKEN'],
    [
      'at an address of another machine',
      ['--host', '192.0.2.1', '--token', 'x'],
      '192.0.2.1 is no',
    ],
    ['with a token that no client can send', ['--token', 'ключ'], 'no header can'],
    ['with a port that is none', ['--port', '80x'], '--port must be'],
    ['with a bad option', ['--window', 'soon'], '--window'],
    ['with a bad limit', ['--max-body', 'much'], '--max-body must be'],
  ])('%s', async (_, flags, said) => {
    const { code, stderr } = await serve(flags);
    expect(stderr).toContain(said);
    expect(code).toBe(2);
  });

  it('at a port that is in use', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const { code, stderr } = await serve(['--port', String(port)]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(`${port} is in use`)]);
    server.close();
  });

  it('with a ledger that cannot be opened', async () => {
    const file = join(stage.folder, 'file');
    await writeFile(file, '');
    const { code, stderr } = await serve(['--port', '0', '--store', join(file, 'ledger.db')]);
    expect([code, stderr]).toEqual([1, expect.stringContaining('not a folder')]);
  });
});

it('prints where it listens, the base URLs and the ledger', async () => {
  const store = stage.newStore();
  const gateway = await startGateway(stage, { store });
  expect(gateway.cli.stdout()).toContain(`"store":"${store}"`);
  expect(gateway.base('openai')).toBe(`${gateway.url}/openai/v1`);
  expect(gateway.base('groq')).toBe(`${gateway.url}/groq/openai/v1`);
  await gateway.kill();
});
