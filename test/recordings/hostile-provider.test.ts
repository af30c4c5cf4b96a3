import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Recording } from '../../src/cli/doctor/recording.ts';
import { type Simulator, startSimulator } from '../../src/simulator/index.ts';
import { runCli } from '../support/processes/run-cli.ts';
import { batcherOf, replay } from './replay.ts';

const key = 'sk-proj-Quite+Secret/0123456789';
const encoded = Buffer.from(key).toString('base64');
/** What a provider may say of the account although nobody has asked. */
const echoed = {
  organization: 'Acme Secret Works',
  owner: { name: 'Jane Whistle', note: 'first of the house', phone: 5 },
  created_by: 'jane',
  hint: `the key ${key} (${encoded}) of jane.whistle@acme.example in org-Ab12, project proj_Zy9`,
  link: `https://files.example/a/b?X-Amz-Credential=ASIAQWERTY12345678&X-Amz-Signature=0f0f0f&key=${encodeURIComponent(key)}`,
  [`of ${key}`]: [`Bearer ${key}`, 'user-JaneW1'],
};
const secrets = [
  ...[key, encodeURIComponent(key), encoded, 'Quite', 'Acme', 'Secret Works', 'Jane', 'Whistle'],
  ...['first of the house', 'jane', 'Ab12', 'Zy9', 'ASIA', '0f0f0f', 'JaneW1', 'acme'],
];
/** The account of Fireworks, which stands in its paths and names. It is as long as the simulator's. */
const account = 'acmeworks';

let simulator: Simulator;
let refusesCancel = false;
let server: Server;
let folder: string;
beforeAll(async () => {
  simulator = await startSimulator({ speed: { validating: 20, running: 300, cancelling: 2 } });
  folder = await mkdtemp(join(tmpdir(), 'batchling-test-'));
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (refusesCancel && request.url?.endsWith('/cancel')) {
      const message = `${request.url} is not for ${key} (${encoded}, ${encodeURIComponent(key)}) of org-Ab12`;
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message } }));
      return;
    }
    const own = new Set(['host', 'connection', 'content-length']);
    const named = Object.entries(request.headers as Record<string, string>);
    const headers = Object.fromEntries(named.filter(([name]) => !own.has(name)));
    const { method = 'GET', url = '' } = request;
    const origin = new URL(simulator.baseUrl('openai')).origin;
    const sent = Buffer.concat(chunks).toString().replaceAll(account, 'simulator');
    const body = method === 'GET' ? undefined : sent;
    const answer = await fetch(`${origin}${url.replace(account, 'simulator')}`, {
      method,
      headers,
      ...(body && { body }),
    });
    const text = (await answer.text())
      .replaceAll('accounts/simulator', `accounts/${account}`)
      .replace(/\{"(id|name)"/g, `{"echo":${JSON.stringify(echoed)},"$1"`)
      .replace(/"content":"/, `"content":"${key} says: `);
    const type = answer.headers.get('content-type') ?? 'text/plain';
    const told = {
      'openai-organization': 'Acme Secret Works',
      'x-echo': key,
      'retry-after': encoded,
    };
    const length = Buffer.byteLength(text);
    response.writeHead(answer.status, { 'content-type': type, 'content-length': length, ...told });
    response.end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  server.close().closeAllConnections();
  await simulator.close();
  await rm(folder, { recursive: true });
});

it.each([
  ['openai', 'OPENAI_API_KEY', 'gpt-5-nano'],
  ['fireworks', 'FIREWORKS_API_KEY', 'accounts/fireworks/models/gpt-oss-20b'],
  ['openrouter', 'OPENROUTER_API_KEY', 'openai/gpt-4o-mini'],
] as const)(
  'a recording of %s holds nothing of the account, and is replayed as it was',
  async (provider, variable, model) => {
    simulator.reset();
    const { port } = server.address() as AddressInfo;
    const path = new URL(simulator.baseUrl(provider)).pathname;
    const base = `http://127.0.0.1:${port}${path}`;
    const options = ['--base', base, '--model', model, '--yes', '--record', folder];
    const given = ['doctor', '--live', provider, ...options];
    const environment = { [variable]: key, BATCHLING_POLL: '20ms' };
    const { code, stderr } = await runCli(given, { environment });
    expect({ code, stderr }).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('recorded'),
    });
    const name = (await readdir(folder)).find((file) => file.startsWith(provider)) ?? '';
    const text = await readFile(join(folder, name), 'utf8');
    for (const secret of secrets) expect(text, secret).not.toContain(secret);
    for (const { id } of simulator.batches()) expect(text).not.toContain(id);
    const recording = JSON.parse(text) as Recording;
    expect(recording.finished.exchanges.length).toBeGreaterThan(4);
    const batcher = await batcherOf(recording);
    const { finished, cancelled } = recording;
    expect(finished.outcome).toMatchObject({ found: expect.stringMatching(/^found .*among 1$/) });
    expect(await replay(batcher, recording, finished, false)).toEqual(finished.outcome);
    if (cancelled === undefined) throw new Error('The cancelled batch was not recorded.');
    expect(await replay(batcher, recording, cancelled, true)).toEqual(cancelled.outcome);
  },
);

it('a recording of a provider that names its results by a whole URL is replayed as it was', async () => {
  const base = simulator.baseUrl('anthropic');
  const given = ['doctor', '--live', 'anthropic', '--base', base, '--yes', '--record', folder];
  const environment = { ANTHROPIC_API_KEY: key, BATCHLING_POLL: '20ms' };
  const { code, stdout } = await runCli(given, { environment });
  expect(code).toBe(0);
  expect(stdout).toContain('GET /messages/batches/{id}/results 200');
  const name = (await readdir(folder)).find((file) => file.startsWith('anthropic')) ?? '';
  const recording = JSON.parse(await readFile(join(folder, name), 'utf8')) as Recording;
  const { finished } = recording;
  const batcher = await batcherOf(recording);
  expect(await replay(batcher, recording, finished, false)).toEqual(finished.outcome);
});

it.each([
  ['text', []],
  ['JSON', ['--json']],
])('a report as %s shows no key and no id, whatever is said of a cancel', async (_, flags) => {
  simulator.reset();
  refusesCancel = true;
  const { port } = server.address() as AddressInfo;
  const base = `http://127.0.0.1:${port}${new URL(simulator.baseUrl('openai')).pathname}`;
  const given = ['doctor', '--live', 'openai', '--base', base, '--model', 'gpt-5-nano', '--yes'];
  const environment = { OPENAI_API_KEY: key, BATCHLING_POLL: '20ms' };
  const { code, stdout } = await runCli([...given, ...flags], { environment });
  refusesCancel = false;
  expect(code).toBe(0);
  expect(stdout).toContain('was answered with 400');
  for (const secret of secrets) expect(stdout, secret).not.toContain(secret);
  for (const { id } of simulator.batches()) expect(stdout).not.toContain(id);
});

it('--record belongs to --live', async () => {
  const { code, stderr } = await runCli(['doctor', '--record', folder]);
  expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('--live') });
});
