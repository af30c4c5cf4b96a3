import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Bench, openBench } from '../../src/ledger/conformance/subject.test-helper.ts';
import { openMemoryLedger } from '../../src/ledger/memory/memory-ledger.ts';
import { PageServer } from '../../src/ui/page-server.ts';
import { outcomeOf, rawExchange } from '../gateway/raw-exchange.ts';
import { type GatewayProcess, startGateway } from '../gateway/start-gateway.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { hostileRequests } from './hostile-requests.ts';

const docs = readFileSync(new URL('../../docs/ui.md', import.meta.url), 'utf8');
const written: string[] = [];
let server: PageServer;
let bench: Bench;
let stage: Stage;
let gateway: GatewayProcess;

beforeAll(async () => {
  bench = await openBench({ name: 'a ledger', open: openMemoryLedger, kill: { skip: 'not here' } });
  const done = async (what: string) => {
    written.push(what);
    return { text: what, failed: false };
  };
  const actions = { cancel: (id: string) => done(`cancel ${id}`), collect: () => done('collect') };
  server = await PageServer.start({
    ...{ port: 0, host: '127.0.0.1', token: 'the-token', store: 'a ledger', actions },
    now: Date.now,
    ledger: async () => bench.ledger,
  });
  stage = await openStage();
  gateway = await startGateway(stage);
});

afterAll(async () => {
  await Promise.all([server.close(), gateway.kill()]);
  await stage.close();
});

/** The path of a line begins where the page is. */
async function send(url: string, line: string, headers: readonly string[]): Promise<string> {
  const { port, pathname } = new URL(url);
  const target = line.replace(' ', ` ${pathname}`);
  const head = [`${target} HTTP/1.1`, ...headers, 'Content-Length: 0', 'Connection: close'];
  return rawExchange(Number(port), [`${head.join('\r\n')}\r\n\r\n`]);
}

describe('what somebody tries who was not given the address of the page', () => {
  it.each(hostileRequests)('$what: $outcome', async ({ what, line, headers, outcome }) => {
    const received = await send(server.url, line, headers);
    expect(outcomeOf(received)).toBe(outcome);
    expect(received).not.toMatch(/access-control-allow/i);
    expect(docs, 'docs/ui.md has a row for it').toContain(`| ${what} | ${outcome} |`);
  });

  it('has changed nothing', () => expect(written).toEqual([]));

  it('is told in docs/ui.md, and no other', () => {
    const rows = docs.split('\n').filter((line) => /\| \d{3}.* \|$/.test(line));
    expect(rows).toHaveLength(hostileRequests.length);
  });

  it('fares the same at the page of a gateway', async () => {
    for (const { what, line, headers, outcome } of hostileRequests) {
      const [, token = ''] = /#token=(.+)/.exec(pageOf(gateway)) ?? [];
      const own = headers.map((header) => header.replace('the-token', token));
      expect(outcomeOf(await send(`${gateway.url}/ui/`, line, own)), what).toBe(outcome);
    }
  });
});

function pageOf({ cli }: GatewayProcess): string {
  return JSON.parse(cli.stdout()).ui;
}

describe('whoever was given the address', () => {
  const token = { 'x-batchling-token': 'the-token' };

  it('may follow a link of another site to the page, which asks for everything else itself', async () => {
    const link = [
      'Sec-Fetch-Site: cross-site',
      'Sec-Fetch-Mode: navigate',
      'Sec-Fetch-Dest: document',
    ];
    for (const url of [server.url, `${gateway.url}/ui/`]) {
      const headers = [`Host: ${new URL(url).host}`, 'x-batchling-token: the-token', ...link];
      expect(outcomeOf(await send(url, 'GET ', headers))).toBe('200');
      for (const line of ['GET api/now', 'GET page.js', 'POST api/collect']) {
        expect(outcomeOf(await send(url, line, headers)), line).toContain('403');
      }
      const form = [...headers, 'Origin: http://evil.example'];
      expect(outcomeOf(await send(url, 'POST ', form))).toContain('403');
    }
  });

  it('reads, and changes what --write allows', async () => {
    const read = await fetch(`${server.url}api/now`, { headers: token });
    expect(await read.json()).toMatchObject({ queues: [], recent: [] });
    await bench.send([1]);
    const [{ token: id } = { token: '' }] = await bench.ledger.list();
    const cancel = await fetch(`${server.url}api/batches/${id}/cancel`, {
      method: 'POST',
      headers: token,
    });
    expect(await cancel.json()).toEqual({ text: `cancel ${id}`, failed: false });
    const collect = await fetch(`${server.url}api/collect`, { method: 'POST', headers: token });
    expect(collect.status).toBe(200);
    expect(written).toEqual([`cancel ${id}`, 'collect']);
  });

  it('reaches a server on this machine by any of its names, also through a tunnel', async () => {
    for (const host of ['localhost:8788', 'LOCALHOST', '127.9.9.9:1', '[::1]:8788']) {
      const received = await send(server.url, 'GET api/now', [
        `Host: ${host}`,
        'x-batchling-token: the-token',
      ]);
      expect(outcomeOf(received), host).toBe('200');
    }
  });

  it('only reads the page of a gateway, and gets it at /ui', async () => {
    const [, own = ''] = /#token=(.+)/.exec(pageOf(gateway)) ?? [];
    const answer = await fetch(`${gateway.url}/ui/api/info`, {
      headers: { 'x-batchling-token': own },
    });
    expect(await answer.json()).toMatchObject({ canWrite: false });
    const write = await fetch(`${gateway.url}/ui/api/collect`, {
      method: 'POST',
      headers: { 'x-batchling-token': own },
    });
    expect(write.status).toBe(405);
    const moved = await fetch(`${gateway.url}/ui`, { redirect: 'manual' });
    expect(moved.headers.get('location')).toBe('ui/');
  });

  it('needs the token of a gateway that has one, and is not told it', async () => {
    const given = await startGateway(stage, { flags: ['--token', 'a-token'] });
    expect(pageOf(given)).toBe(`${given.url}/ui`);
    const ask = (headers: Record<string, string>) => fetch(`${given.url}/ui/api/info`, { headers });
    expect((await ask({})).status).toBe(401);
    expect((await ask({ 'x-batchling-token': 'a-token' })).status).toBe(200);
    // Keys of clients open nothing here.
    expect((await ask({ authorization: 'Bearer a-token' })).status).toBe(401);
    await given.kill();
  });

  it('gets a page that loads nothing from elsewhere, runs nothing inline, and is in no frame', async () => {
    const page = await fetch(server.url);
    const html = await page.text();
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(html).not.toMatch(/https?:|<style|style=|\son\w+=|<script>/);
    expect(page.headers.get('x-content-type-options')).toBe('nosniff');
    expect((await fetch(`${server.url}page.js`)).headers.get('content-type')).toMatch(/javascript/);
  });
});
