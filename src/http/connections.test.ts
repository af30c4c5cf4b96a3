import { execFile } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createHttpClient } from './client.ts';

const clock = { now: Date.now, setTimeout, clearTimeout: () => {} };
const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  vi.unstubAllEnvs();
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => void server.close().closeAllConnections());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function wireTo(base: string) {
  const client = createHttpClient({ clock });
  cleanups.push(() => client.close());
  return client.wire({
    base,
    origins: [base],
    credentials: () => ({ headers: { authorization: 'Bearer k' } }),
  });
}

/** A proxy that tunnels, and remembers to where and for whom. */
async function proxy() {
  const tunnels: { to: string | undefined; authorization: string | undefined }[] = [];
  const server = createServer((_request, response) => void response.writeHead(405).end());
  server.on('connect', (request, client) => {
    const authorization = request.headers['proxy-authorization'];
    tunnels.push({ to: request.url, authorization });
    const [host, port] = (request.url ?? '').split(':');
    const upstream = connect(Number(port), host, () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      client.pipe(upstream).pipe(client);
    });
    for (const socket of [upstream, client]) socket.on('error', () => socket.destroy());
    cleanups.push(() => upstream.destroy());
    cleanups.push(() => client.destroy());
  });
  return { address: await listen(server), tunnels };
}

describe('proxies', () => {
  it.each(['http_proxy', 'HTTP_PROXY'])('are taken from %s', async (variable) => {
    const { address, tunnels } = await proxy();
    const target = await listen(createServer((_request, response) => void response.end('through')));
    vi.stubEnv('no_proxy', '');
    vi.stubEnv(variable, `http://user:pass%21@${address}`);
    const reply = await wireTo(`http://${target}`).send({ method: 'POST', path: '/', body: 'x' });
    expect(await reply.text()).toBe('through');
    const authorization = `Basic ${Buffer.from('user:pass!').toString('base64')}`;
    expect(tunnels).toEqual([{ to: target, authorization }]);
  });

  it('are left out for the hosts of no_proxy', async () => {
    const { address, tunnels } = await proxy();
    const target = await listen(createServer((_request, response) => void response.end('direct')));
    vi.stubEnv('HTTP_PROXY', `http://${address}`);
    vi.stubEnv('no_proxy', 'localhost,127.0.0.1');
    const reply = await wireTo(`http://${target}`).send({ method: 'GET', path: '/' });
    expect(await reply.text()).toBe('direct');
    expect(tunnels).toEqual([]);
  });

  it('that cannot be reached mean that nothing was sent', async () => {
    const { address } = await proxy();
    await cleanups.pop()?.();
    vi.stubEnv('HTTPS_PROXY', `http://user:hush-hush@${address}`);
    vi.stubEnv('no_proxy', '');
    const sending = wireTo('https://api.example').send({ method: 'GET', path: '/' });
    await expect(sending).rejects.toMatchObject({
      code: 'NOT_SENT',
      message: expect.not.stringContaining('hush-hush'),
    });
  });

  it('that are no URL are an error that does not show them', async () => {
    vi.stubEnv('HTTPS_PROXY', 'http://user:hush-hush@:bad:');
    const sending = wireTo('https://api.example').send({ method: 'GET', path: '/' });
    await expect(sending).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      message: expect.not.stringContaining('hush-hush'),
    });
  });
});

describe('a big upload', () => {
  it('is made as it is taken: 50 MB pass with little of it in memory', async () => {
    const total = 50 * 1024 * 1024;
    const mebibyte = 1024 * 1024;
    let made = 0;
    let taken = 0;
    let ahead = 0;
    const target = await listen(
      createServer((request, response) => {
        request.on('data', (chunk: Buffer) => {
          taken += chunk.length;
        });
        // Late on purpose, so that a client which does not wait would have made it all.
        request.pause();
        setTimeout(() => request.resume(), 50);
        request.on('end', () => response.end(String(taken)));
      }),
    );
    const body = {
      length: total,
      async *chunks() {
        while (made < total) {
          yield Buffer.alloc(64 * 1024, 120);
          made += 64 * 1024;
          ahead = Math.max(ahead, made - taken);
        }
      },
    };
    const before = process.memoryUsage().arrayBuffers;
    const sending = wireTo(`http://${target}`).send({ method: 'POST', path: '/', body });
    await new Promise((resolve) => setTimeout(resolve, 30));
    const grown = process.memoryUsage().arrayBuffers - before;
    expect(await (await sending).text()).toBe(String(total));
    // What runs ahead sits in the kernel's socket buffers.
    expect(ahead).toBeLessThan(20 * mebibyte);
    expect(grown).toBeLessThan(20 * mebibyte);
  });
});

describe('in a program of its own', () => {
  /** Runs a program that has `client` (not yet used), `send()` and `undiciFiles()`. */
  async function run(program: string): Promise<unknown> {
    const target = await listen(createServer((_request, response) => void response.end('{}')));
    const source = `
      import { createRequire } from 'node:module';
      import { createHttpClient } from ${JSON.stringify(new URL('client.ts', import.meta.url))};
      const cache = createRequire(${JSON.stringify(import.meta.url)}).cache;
      const undiciFiles = () => Object.keys(cache).filter((file) => file.includes('/undici/')).length;
      const client = createHttpClient({ clock: { now: Date.now, setTimeout, clearTimeout } });
      const base = 'http://${target}';
      const wire = client.wire({ base, origins: [base], credentials: () => ({}) });
      const send = async () => (await wire.send({ method: 'GET', path: '/' })).json();
      ${program}`;
    const flags = ['--import', 'tsx', '--input-type=module', '--eval', source];
    const environment = { PATH: process.env.PATH, HOME: process.env.HOME };
    const options = { env: environment, timeout: 120_000 };
    const { stdout } = await promisify(execFile)(process.execPath, flags, options);
    return JSON.parse(stdout);
  }

  it('undici is not loaded before the first request', async () => {
    const [before, after] = (await run(`
      const before = undiciFiles();
      await send();
      console.log(JSON.stringify([before, undiciFiles()]));
    `)) as [number, number];
    expect(before).toBe(0);
    expect(after).toBeGreaterThan(0);
  });

  it('its fetch stays on the undici of Node, although ours is loaded first', async () => {
    const program = `
      await send();
      await fetch('data:,').catch(() => undefined);
      const globals = [1, 2].map((version) => globalThis[Symbol.for('undici.globalDispatcher.' + version)]);
      const ours = (await import('undici')).Agent;
      console.log(JSON.stringify(globals.map((dispatcher) => dispatcher instanceof ours)));
    `;
    expect(await run(program)).toEqual([false, false]);
  });

  it('patches of fetch and of http.Agent never see our requests', async () => {
    const program = `
      import http from 'node:http';
      let seen = 0;
      const { fetch } = globalThis;
      globalThis.fetch = (...parameters) => { seen += 1; return fetch(...parameters); };
      const { addRequest } = http.Agent.prototype;
      http.Agent.prototype.addRequest = function (...parameters) {
        seen += 1;
        return addRequest.apply(this, parameters);
      };
      await send();
      console.log(seen);
    `;
    expect(await run(program)).toBe(0);
  });

  it('kept connections and watches do not hold the process open', async () => {
    // Sooner than the 4 s of a kept connection and the 30 s of the idle watch.
    const program = `
      await send();
      let held = false;
      setTimeout(() => { held = true; }, 3_000).unref();
      process.on('exit', () => console.log(held));
    `;
    expect(await run(program)).toBe(false);
  });
});
