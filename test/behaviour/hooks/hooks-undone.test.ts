import { Agent } from 'node:http';
import http2 from 'node:http2';
import { expect, it } from 'vitest';
import { batchify } from '../../../src/index.ts';

/** Everything that a scope puts in place beside `fetch`, which the import has wrapped for good. */
const patched = () => [
  AbortController.prototype.abort,
  globalThis.setTimeout,
  Object.getOwnPropertyDescriptor(Agent.prototype, 'addRequest')?.value,
  http2.connect,
];

const openaiUrl = 'https://api.openai.com/v1/chat/completions';

it('the last scope to end undoes all patches, however it ends', async () => {
  const [nativeAbort, ...before] = patched();
  const stop = new AbortController();
  const options = { store: ':memory:', window: '1h', maxWindow: '1h' } as const;
  const scopes = [batchify(options), batchify({ ...options, signal: stop.signal })] as const;
  const [abort, ...during] = patched();
  // Nothing is captured yet that an abort could end.
  expect(abort).toBe(nativeAbort);
  for (const [at, value] of during.entries()) expect(value).not.toBe(before[at]);
  const { signal } = new AbortController();
  const body = JSON.stringify({ model: 'm', messages: [] });
  const asked = scopes[1].run(() => fetch(openaiUrl, { method: 'POST', body, signal }));
  const guarded = patched();
  expect(guarded[0]).not.toBe(nativeAbort);
  await scopes[0].close();
  expect(patched()).toEqual(guarded);
  stop.abort(new Error('enough'));
  await expect(asked).rejects.toThrow('enough');
  expect(patched()).toEqual([nativeAbort, ...before]);
  await expect(
    batchify(() => {
      throw new Error('boom');
    }),
  ).rejects.toThrow('boom');
  // Its code may go on to make calls: only what notes their time limits stays.
  const [abortAfter, setTimeout, ...others] = patched();
  expect(abortAfter).toBe(nativeAbort);
  expect(setTimeout).not.toBe(before[0]);
  expect(others).toEqual(before.slice(1));
});
