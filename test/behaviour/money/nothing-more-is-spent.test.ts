import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { batchify } from '../../../src/index.ts';
import { ask, chatRequest } from '../../support/ask.ts';
import { watchCall } from '../../support/is-told.ts';
import { chatUrl } from '../../support/source-of.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

const send = (prompt: string, init: RequestInit = {}) =>
  fetch(chatUrl(stage), { ...chatRequest(prompt), ...init });
const patient = { window: '1h', maxWindow: '1h' } as const;

describe('results that cannot be read', () => {
  it('are read again, and nothing is paid for a second time', async () => {
    stage.simulator.faults.add({ method: 'GET', path: /content$/, action: { kind: 'garbage' } });
    const responses = await batchify(
      () => Promise.all(['a', 'b', 'c'].map((prompt) => send(prompt))),
      stage.options(),
    );
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(stage.simulator.meter).toMatchObject({ total: 3, realtime: 0 });
  });
});

describe('code of a scope that has ended early', () => {
  it('stays unanswered after the function threw, and sends nothing at full price', async () => {
    const warnings: string[] = [];
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation((text) => {
      warnings.push(String(text));
    });
    const later: { readonly isTold: boolean }[] = [];
    const failed = batchify(async () => {
      setTimeout(() => later.push(watchCall(send('afterwards'))), 20);
      throw new Error('no');
    }, stage.options(patient));
    await expect(failed).rejects.toThrow('no');
    await until(() => later.length === 1, 'the call');
    await batchify(() => send('another scope'), stage.options());
    expect(later[0]?.isTold).toBe(false);
    expect(stage.simulator.meter.total).toBe(1);
    expect(warnings).toEqual([
      expect.stringContaining('a batchling scope that an error has ended'),
    ]);
    warn.mockRestore();
  });

  it('is rejected with the reason of the signal, whatever its client tries', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const asked = batchify(() => ask(stage.openai(), 'unwanted'), {
      ...stage.options(patient),
      signal: controller.signal,
    });
    setTimeout(() => controller.abort(reason), 30);
    await expect(asked).rejects.toThrow();
    expect(stage.simulator.meter.total).toBe(0);
  });

  it('leaves no listener on the signal behind', async () => {
    const { signal } = new AbortController();
    const remove = vi.spyOn(signal, 'removeEventListener');
    await batchify(() => undefined, { ...stage.options(), signal });
    expect(remove).toHaveBeenCalledWith('abort', expect.any(Function));
  });
});

describe('cancel', () => {
  it('of what is being uploaded creates no batch', async () => {
    stage.simulator.faults.add({
      method: 'POST',
      path: '/v1/files',
      times: Number.POSITIVE_INFINITY,
      action: { kind: 'status', status: 503 },
    });
    const scope = batchify(stage.options());
    const asked = scope.run(() => send('unwanted'));
    await until(() => stage.simulator.countRequests('POST', '/v1/files') === 1, 'the upload');
    await scope.cancel();
    expect((await asked).status).toBe(499);
    await scope.close();
    expect(stage.simulator.countRequests('POST', '/v1/batches')).toBe(0);
    expect(stage.simulator.meter.total).toBe(0);
  });

  it('of one scope leaves another its place in the same batch', async () => {
    const store = stage.newStore();
    stage.simulator.hold();
    stage.simulator.faults.add({
      method: 'POST',
      path: '/v1/files',
      action: { kind: 'status', status: 503 },
    });
    const options = stage.options({ store });
    const one = batchify(options);
    const other = batchify(options);
    const dropped = one.run(() => send('dropped'));
    const wanted = other.run(() => send('wanted'));
    await until(() => stage.simulator.countRequests('POST', '/v1/files') >= 1, 'the upload');
    await one.cancel();
    expect((await dropped).status).toBe(499);
    stage.simulator.release();
    expect((await wanted).status).toBe(200);
    await Promise.all([one.close(), other.close()]);
  });

  it('is not remembered as an error of the request', async () => {
    const store = ':memory:';
    const one = batchify(stage.options({ ...patient, store }));
    const dropped = one.run(() => send('once more'));
    await one.flush();
    await until(() => one.stats.captured === 1, 'the capture');
    await one.cancel();
    expect((await dropped).status).toBe(499);
    const again = await batchify(() => send('once more'), stage.options({ store }));
    expect(again.status).toBe(200);
    await one.close();
  });
});

describe('a deadline', () => {
  it('also ends what cannot be uploaded', async () => {
    stage.simulator.faults.add({
      method: 'POST',
      path: '/v1/files',
      times: Number.POSITIVE_INFINITY,
      action: { kind: 'status', status: 503 },
    });
    const response = await batchify(() => send('late'), stage.options({ deadline: '150ms' }));
    expect(response.status).toBe(504);
    expect(stage.simulator.meter.total).toBe(0);
  });
});

describe('what we leave at the provider', () => {
  it('is deleted once the answers are ours, unless cleanup is false', async () => {
    await batchify(() => send('tidy'), stage.options());
    expect(stage.simulator.countRequests('DELETE', /^\/v1\/files\//)).toBe(1);
    await batchify(() => send('untidy'), stage.options({ cleanup: false }));
    expect(stage.simulator.countRequests('DELETE', /^\/v1\/files\//)).toBe(1);
  });
});

describe('bodies that are read first', () => {
  it.each<[string, () => RequestInit]>([
    ['a blob', () => ({ body: new Blob([String(chatRequest('read').body)]) })],
    [
      'a stream',
      () => ({ body: new Blob([String(chatRequest('read').body)]).stream(), duplex: 'half' }),
    ],
  ])('%s is captured', async (_what, init) => {
    const response = await batchify(() => send('read', init()), stage.options());
    expect(response.headers.get('x-batchling-source')).toBe('batch');
  });

  it('a stream that is slow keeps a closing scope open', async () => {
    const scope = batchify(stage.options());
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const sent = scope.run(() => send('slow', { body: readable, duplex: 'half' } as RequestInit));
    const closed = scope.close();
    await new Promise(setImmediate);
    await new Blob([String(chatRequest('slow').body)]).stream().pipeTo(writable);
    expect((await sent).headers.get('x-batchling-source')).toBe('batch');
    await closed;
  });
});

it('a key that a provider echoes reaches neither the ledger nor the caller', async () => {
  const store = stage.newStore();
  stage.simulator.faults.add({
    method: 'POST',
    path: '/v1/batches',
    action: {
      kind: 'status',
      status: 401,
      body: { error: { message: 'Incorrect API key provided: sk-test-key', code: 'invalid' } },
    },
  });
  const response = await batchify(
    () => ask(stage.openai({ maxRetries: 0 }), 'secret').catch((error: Error) => error.message),
    stage.options({ store }),
  );
  expect(response).toContain('401');
  expect(response).not.toContain('sk-test-key');
  const folder = dirname(store);
  for (const name of await readdir(folder, { recursive: true })) {
    const bytes = await readFile(join(folder, name)).catch(() => Buffer.alloc(0));
    expect(bytes.includes('sk-test-key')).toBe(false);
  }
});
