import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { maskAbort } from './deferred-abort.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** A signal that one of its sources has aborted; nobody holds the other one. */
function abortedByItsSource(): AbortSignal {
  const controller = new AbortController();
  const signal = AbortSignal.any([controller.signal, new AbortController().signal]);
  controller.abort();
  return signal;
}

it('Node may collect a source of a masked signal', async () => {
  const uncaught: unknown[] = [];
  const note = (error: unknown) => uncaught.push(error);
  process.prependListener('uncaughtException', note);
  const signal = abortedByItsSource();
  const unmask = maskAbort(signal);
  expect(signal.aborted).toBe(false);
  for (let turn = 0; turn < 5; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    collectGarbage();
  }
  await new Promise((resolve) => setImmediate(resolve));
  process.off('uncaughtException', note);
  expect(uncaught).toEqual([]);
  unmask();
  expect(signal.aborted).toBe(true);
});

it('AbortSignal.any takes a masked signal as one that is not aborted', () => {
  const signal = abortedByItsSource();
  maskAbort(signal);
  expect(AbortSignal.any([signal]).aborted).toBe(false);
});
