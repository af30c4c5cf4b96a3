import { Agent } from 'node:http';
import { expect, it } from 'vitest';
import { batchify } from '../../src/index.ts';

/** Everything that a scope puts in place beside `fetch`, which the import has wrapped for good. */
const patched = () => [
  globalThis.setTimeout,
  AbortController.prototype.abort,
  Object.getOwnPropertyDescriptor(Agent.prototype, 'addRequest')?.value,
];

it('the last scope to end undoes all patches, however it ends', async () => {
  const before = patched();
  const stop = new AbortController();
  const scopes = [batchify(), batchify({ signal: stop.signal })];
  const during = patched();
  for (const [at, value] of during.entries()) expect(value).not.toBe(before[at]);
  await scopes[0]?.close();
  expect(patched()).toEqual(during);
  stop.abort(new Error('enough'));
  expect(patched()).toEqual(before);
  await expect(
    batchify(() => {
      throw new Error('boom');
    }),
  ).rejects.toThrow('boom');
  // Its code may go on to make calls: only what notes their time limits stays.
  const [setTimeout, ...others] = patched();
  expect(setTimeout).not.toBe(before[0]);
  expect(others).toEqual(before.slice(1));
});
