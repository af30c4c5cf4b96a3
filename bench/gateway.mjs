// node bench/gateway.mjs [clients], after npm run build: what a client that waits costs the gateway, beside a bare
// server of node:http, and what the gateway adds to a call. CPU and memory are read from /proc, so it runs on Linux only.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { batchify } from '../dist/core.js';
import { bodyOf, makePrompts } from './bodies.mjs';
import { startProvider } from './processes.mjs';

const clients = Number(process.argv[2] ?? 10_000);
const warmUp = 500;
const sequential = 500;
const rounds = 3;
const watched = 30_000;
const headers = { authorization: 'Bearer sk-bench', 'content-type': 'application/json' };
const folder = await mkdtemp(join(tmpdir(), 'batchling-bench-'));
const provider = await startProvider();

try {
  await waitingClients();
  await addedTime();
} finally {
  await provider.stop();
  await rm(folder, { recursive: true, force: true });
}

async function waitingClients() {
  const bodies = makePrompts(warmUp + clients).map((prompt) => JSON.stringify(bodyOf(prompt)));
  const found = { floor: [], gateway: [] };
  for (let round = 0; round < rounds; round += 1) {
    found.floor.push(await holdClients(await startBareServer('hold'), bodies));
    // No batch is sent meanwhile: that is no part of taking a call in.
    const flags = ['--window', '1h', '--max-window', '1h', '--batch-size', '50000'];
    found.gateway.push(await holdClients(await startGateway(flags), bodies, round === rounds - 1));
  }
  const lines = [
    ['CPU to take one in', 'intake', 'us'],
    ['memory per waiting client', 'memory', 'KB'],
  ];
  print('clients that wait', clients);
  for (const [what, name, unit] of lines) {
    const [floor, gateway] = [found.floor, found.gateway].map((all) => valuesOf(all, name));
    print(`${what}: a bare server, least`, floor[0], unit);
    print(`${what}: the gateway, least`, gateway[0], `${unit}, ${ratio(gateway[0], floor[0])}`);
    print(`${what}: a bare server, median`, median(floor), unit);
    const [mine, bare] = [median(gateway), median(floor)];
    print(`${what}: the gateway, median`, mine, `${unit}, ${ratio(mine, bare)}`);
  }
  print('CPU while they wait', found.gateway.at(-1).wait, '% of a core');
}

/** Opens the clients and measures the server. `isWatched`: also while nothing but heartbeats happens. */
async function holdClients(server, bodies, isWatched = false) {
  const sockets = [];
  const ask = async (some) => {
    for (const [index, body] of some.entries()) {
      sockets.push(openClient(server, body));
      // The system keeps only so many connections that nobody has accepted yet.
      if (index % 200 === 199) await once(sockets.at(-1), 'connect');
    }
    while ((await server.metric('calls_total')) < sockets.length) await sleep(200);
    await sleep(2_000);
  };
  await ask(bodies.slice(0, warmUp));
  const before = server.usage();
  await ask(bodies.slice(warmUp));
  const after = server.usage();
  const measured = {
    intake: ((after.cpu - before.cpu) / clients) * 1e6,
    memory: (after.memory - before.memory) / clients / 1024,
  };
  if (isWatched) {
    await sleep(watched);
    measured.wait = ((server.usage().cpu - after.cpu) / (watched / 1_000)) * 100;
  }
  for (const socket of sockets) socket.destroy();
  await server.stop();
  return measured;
}

/** Answers of the ledger: what is left of a call without its batch. */
async function addedTime() {
  const gateway = await startGateway(['--window', '20ms', '--poll', '20ms']);
  const body = JSON.stringify(bodyOf(makePrompts(1)[0]));
  const scope = batchify({
    hosts: { [provider.base]: 'openai' },
    store: join(folder, 'direct.db'),
    window: '20ms',
    poll: '20ms',
    display: 'none',
  });
  const direct = async () => {
    const response = await scope.fetch(`${provider.base}/chat/completions`, {
      method: 'POST',
      // By its key it is the same request each time; otherwise it would be another sample.
      headers: { ...headers, 'idempotency-key': 'bench' },
      body,
    });
    await response.text();
  };
  await Promise.all([direct(), post(gateway, body)]);
  const bare = await startBareServer('answer');
  const times = { direct: [], bare: [], gateway: [] };
  for (let round = 0; round < rounds; round += 1) {
    for (let call = 0; call < sequential; call += 1) {
      times.direct.push(await timed(direct));
      times.bare.push(await timed(() => post(bare, body)));
      times.gateway.push(await timed(() => post(gateway, body)));
    }
  }
  const [inProcess, exchange, whole] = Object.values(times).map(median);
  print('a call answered from the ledger, by scope.fetch', inProcess, 'ms');
  print('an exchange with a server that does nothing', exchange, 'ms');
  print('the call by the gateway', whole, 'ms');
  print('added per call, beside the exchange', whole - exchange - inProcess, 'ms');
  await bare.stop();
  await scope.close();
  await gateway.stop();
}

async function startGateway(flags) {
  const main = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
  const store = join(folder, `${crypto.randomUUID()}.db`);
  const hosts = `${provider.base}=openai`;
  const given = ['serve', '--port', '0', '--json', '--store', store, '--hosts', hosts, ...flags];
  const child = spawn(process.execPath, [main, ...given], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [text] = await once(child.stdout.setEncoding('utf8'), 'data');
  return measurable(child, new URL(JSON.parse(text).url));
}

/** Reads requests, in a process of its own, and answers at once or, of those that are to be held, only says how many. */
async function startBareServer(kind) {
  const program = `const held = [];
  const { createServer } = require('node:http');
  createServer((request, response) => {
    const pieces = [];
    request.on('data', (piece) => pieces.push(piece)).on('end', () => {
      if (request.method === 'GET') response.end('batchling_calls_total ' + held.length);
      else if ('${kind}' === 'hold') held.push([Buffer.concat(pieces).toString(), response]);
      else response.end('{}');
    });
  }).listen(0, '127.0.0.1', 4096, function () { console.log(this.address().port); });`;
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [port] = await once(child.stdout.setEncoding('utf8'), 'data');
  return measurable(child, new URL(`http://127.0.0.1:${port.trim()}`));
}

function measurable(child, url) {
  return {
    url,
    async metric(name) {
      const page = await (await fetch(`${url.origin}/metrics`)).text();
      return Number(new RegExp(`^batchling_${name} (.+)$`, 'm').exec(page)?.[1]);
    },
    /** Seconds of CPU and bytes of memory. */
    usage() {
      const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1].split(' ');
      const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(
        readFileSync(`/proc/${child.pid}/status`, 'utf8'),
      );
      return { cpu: (Number(fields[11]) + Number(fields[12])) / 100, memory: kilobytes * 1024 };
    },
    async stop() {
      child.kill('SIGKILL');
      if (child.exitCode === null) await once(child, 'exit');
    },
  };
}

function openClient({ url }, body) {
  const socket = connect(Number(url.port), url.hostname);
  socket.on('error', () => undefined).resume();
  socket.write(
    [
      'POST /openai/v1/chat/completions HTTP/1.1',
      `host: ${url.host}`,
      'user-agent: node',
      'authorization: Bearer sk-bench',
      'content-type: application/json',
      `content-length: ${Buffer.byteLength(body)}`,
      '',
      body,
    ].join('\r\n'),
  );
  return socket;
}

function post({ url }, body) {
  return new Promise((resolve, reject) => {
    const call = request(
      `${url.origin}/openai/v1/chat/completions`,
      { method: 'POST', headers },
      (response) => response.resume().once('end', resolve),
    );
    call.once('error', reject).end(body);
  });
}

async function timed(work) {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

function median(values) {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
}

/** From the least on. */
function valuesOf(all, name) {
  return all.map((one) => one[name]).sort((a, b) => a - b);
}

function ratio(value, base) {
  return `${(value / base).toFixed(1)} times`;
}

function print(what, value, unit = '') {
  const text = value >= 100 ? value.toFixed(0) : value.toPrecision(3);
  process.stdout.write(`${what.padEnd(50)} ${text} ${unit}\n`);
}
