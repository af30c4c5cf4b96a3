import { afterEach, expect, it } from 'vitest';
import { type Simulator, startSimulator } from './index.ts';

let simulator: Simulator | undefined;
afterEach(() => simulator?.close());

const speed = { validating: 0, running: 5, finalizing: 0, cancelling: 0 };

async function start(options: Parameters<typeof startSimulator>[0] = {}): Promise<Simulator> {
  simulator = await startSimulator({ speed, ...options });
  return simulator;
}

async function control(method: string, path: string, body?: unknown) {
  const response = await fetch(`${simulator?.url}/__simulator${path}`, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const headers = { 'x-api-key': 'sk-secret', 'anthropic-version': '2023-06-01' };

function createBatch(size: number) {
  const requests = Array.from({ length: size }, (_, index) => ({
    custom_id: `r-${index}`,
    params: { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: `q${index}` }] },
  }));
  return fetch(`${simulator?.url}/anthropic/v1/messages/batches`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ requests }),
  });
}

it('names the providers that it speaks for, each with a base URL', async () => {
  const { providers, baseUrl, url } = await start();
  expect(providers).toEqual(expect.arrayContaining(['openai', 'anthropic', 'google', 'groq']));
  for (const name of providers) expect(baseUrl(name)).toMatch(new RegExp(`^${url}/${name}(/|$)`));
});

it('is steered and read by other processes over HTTP', async () => {
  await start();
  await control('POST', '/hold');
  await createBatch(3);
  expect((await control('GET', '/meter')).body).toMatchObject({ total: 0 });
  await control('POST', '/release');
  await expect.poll(async () => (await control('GET', '/meter')).body.total).toBe(3);
  const meter = await control('GET', '/meter?executions');
  expect(meter.body.byCustomId).toEqual({ 'r-0': 1, 'r-1': 1, 'r-2': 1 });
  expect(meter.body.executions).toHaveLength(3);
  const { requests } = (await control('GET', '/requests')).body;
  expect(requests).toMatchObject([
    { method: 'POST', path: '/v1/messages/batches', headers: { 'x-api-key': 'REDACTED' } },
  ]);
  expect((await control('GET', '/batches')).body.batches).toMatchObject([
    { provider: 'anthropic', total: 3 },
  ]);
  await control('POST', '/reset');
  expect((await control('GET', '/meter')).body).toMatchObject({ total: 0 });
  expect((await control('GET', '/batches')).body.batches).toEqual([]);
});

it('takes faults, scripts, settings and strangers over HTTP', async () => {
  const { meter } = await start();
  await control('POST', '/faults', { path: '^/v1/messages', action: { kind: 'lost' } });
  await expect(createBatch(1)).rejects.toThrow();
  await expect.poll(() => meter.total).toBe(1);
  await control('POST', '/next-batch', { outcome: 'expired', completedFraction: 0 });
  await createBatch(1);
  await control('POST', '/speed', { running: 1 });
  await control('POST', '/settings', { listLag: 5, meterBodies: false });
  expect(simulator?.settings).toMatchObject({ listLag: 5, speed: { running: 1 } });
  const foreign = await control('POST', '/foreign-batch', { provider: 'anthropic', size: 4 });
  expect(simulator?.batches().at(-1)).toMatchObject({ id: foreign.body.id, foreign: true });
  await expect.poll(() => simulator?.batches().every(({ phase }) => phase === 'ended')).toBe(true);
  expect(meter.total).toBe(1);
});

it('tells what is wrong with a control request', async () => {
  await start();
  expect(await control('POST', '/nothing')).toMatchObject({ status: 404 });
  expect((await control('POST', '/settings', { sped: 1 })).body.error).toMatch("'sped'");
  expect((await control('POST', '/faults', {})).body.error).toMatch('action.kind must be one of');
  expect((await control('POST', '/foreign-batch', { provider: 'x' })).status).toBe(400);
});

it('keeps the event loop free while it works off a large batch', async () => {
  const { meter } = await start({ meterBodies: false, speed: { ...speed, running: 0 } });
  await createBatch(20_000);
  const seen = new Set<number>();
  while (simulator?.batches()[0]?.phase !== 'ended') {
    seen.add(meter.total);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(meter.total).toBe(20_000);
  expect(meter.executions[0]?.body).toBeNull();
  // Worked off in one go, nobody would see it half done.
  expect([...seen].filter((total) => total > 0 && total < 20_000)).not.toEqual([]);
});

it('starts afresh on reset, even with answers held back', async () => {
  const { faults, meter } = await start();
  faults.add({ action: { kind: 'delay', ms: 60_000 } });
  const held = createBatch(1);
  held.catch(() => {});
  await expect.poll(() => simulator?.requests.length).toBe(1);
  simulator?.reset();
  await expect(held).rejects.toThrow();
  expect((await createBatch(1)).status).toBe(200);
  await expect.poll(() => meter.total).toBe(1);
});

it('closes twice, and with connections open', async () => {
  const { url } = await start();
  await createBatch(1);
  await Promise.all([simulator?.close(), simulator?.close()]);
  await expect(fetch(url)).rejects.toThrow();
});

it('answers 404 where no provider is at home', async () => {
  const { url } = await start();
  expect((await fetch(`${url}/nowhere`)).status).toBe(404);
});
