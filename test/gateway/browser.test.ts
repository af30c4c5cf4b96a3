import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStage, type Stage } from '../support/stage.ts';
import { browserRequests } from './browser-requests.ts';
import { outcomeOf, rawExchange } from './raw-exchange.ts';
import { chatBody, type GatewayProcess, startGateway } from './start-gateway.ts';

const page = readFileSync(new URL('../../docs/gateway.md', import.meta.url), 'utf8');
let stage: Stage;
let gateway: GatewayProcess;
let withToken: GatewayProcess;

beforeAll(async () => {
  stage = await openStage({ answer: ({ prompt }) => `You asked: ${prompt}` });
  [gateway, withToken] = await Promise.all([
    startGateway(stage),
    startGateway(stage, { flags: ['--token', 'a-token'] }),
  ]);
});

afterAll(async () => {
  await Promise.all([gateway.kill(), withToken.kill()]);
  await stage.close();
});

async function send(
  { url }: GatewayProcess,
  line: string,
  headers: readonly string[],
): Promise<string> {
  const body = line.startsWith('POST') ? chatBody('from a page') : '';
  const length = `content-length: ${Buffer.byteLength(body)}`;
  const head = [`${line} HTTP/1.1`, ...headers, 'connection: close', length, '', body];
  return outcomeOf(await rawExchange(Number(new URL(url).port), [head.join('\r\n')]));
}

describe('what a web page does by a browser', () => {
  it.each(browserRequests)('$what: $outcome', async ({ what, line, headers, outcome }) => {
    const before = stage.simulator.requests.length;
    expect(await send(gateway, line, headers)).toBe(outcome);
    expect(stage.simulator.requests.length, 'the provider was asked').toBe(before);
    expect(page, 'docs/gateway.md has a row for it').toContain(`| ${what} | ${outcome} |`);
  });

  it('is told in docs/gateway.md, and no other', () => {
    const [, after = ''] = page.split('### Web pages');
    const [section = ''] = after.split('\n## ');
    const rows = section.split('\n').filter((line) => /\| \d{3}.* \|$/.test(line));
    expect(rows).toHaveLength(browserRequests.length);
  });

  it('fares no better with a token that the page knows', async () => {
    const foreign = browserRequests.filter(({ outcome }) => outcome.startsWith('403'));
    for (const { what, line, headers } of foreign) {
      const outcome = await send(withToken, line, [...headers, 'x-batchling-token: a-token']);
      expect(outcome, what).toBe('403 `batchling_foreign_page`');
    }
  });
});

describe('a program', () => {
  const get = (path: string, host: string, at = gateway) => send(at, `GET ${path}`, [host]);
  const models = '/openai/v1/models';
  const token = 'x-batchling-token: a-token';

  it.each([
    ['localhost:8787', '200'],
    ['LOCALHOST', '200'],
    ['127.0.0.1:1', '200'],
    ['127.1.2.3:8787', '200'],
    ['[::1]:8787', '200'],
    ['127.0.0.1.evil.example', '421 `batchling_wrong_host`'],
    ['localhost.evil.example:8787', '421 `batchling_wrong_host`'],
    ['192.168.1.5:8787', '421 `batchling_wrong_host`'],
    ['[::2]', '421 `batchling_wrong_host`'],
    ['', '421 `batchling_wrong_host`'],
  ])('that calls a gateway without a token by the name %j: %s', async (name, outcome) => {
    expect(await get('/metrics', `host: ${name}`)).toBe(outcome);
  });

  it('asks for the health by any address, but not by any name', async () => {
    for (const name of ['10.0.0.7:8787', '[fd00::7]:8787']) {
      expect(await get('/healthz', `host: ${name}`)).toBe('200');
    }
    expect(await get('/healthz', 'host: gateway.example')).toBe('421 `batchling_wrong_host`');
  });

  it('calls a gateway with a token by any name', async () => {
    const headers = ['host: gateway.example', 'authorization: Bearer sk-client', token];
    expect(await send(withToken, `GET ${models}`, headers)).not.toMatch(/421|403/);
    expect(await get('/healthz', 'host: gateway.example', withToken)).toBe('200');
  });
});
