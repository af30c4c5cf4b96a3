import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { comesFromTimer } from './abort-guard.ts';

/** What `comesFromTimer` says while the signal aborts; the way it is asked in earnest. */
function verdict(signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(comesFromTimer(signal.reason)), { once: true });
  });
}

function abortedBy(start: (controller: AbortController) => unknown): Promise<boolean> {
  const controller = new AbortController();
  const result = verdict(controller.signal);
  start(controller);
  return result;
}

describe('an abort that is a deadline', () => {
  it('comes straight from a timer', async () => {
    expect(await abortedBy((controller) => setTimeout(() => controller.abort(), 1))).toBe(true);
  });

  it('comes from a timer with a reason of its own', async () => {
    const start = (controller: AbortController) =>
      setTimeout(() => controller.abort(new Error('too late')), 1);
    expect(await abortedBy(start)).toBe(true);
  });

  it('comes from a repeating timer', async () => {
    const start = (controller: AbortController) => {
      const timer = setInterval(() => {
        clearInterval(timer);
        controller.abort();
      }, 1);
    };
    expect(await abortedBy(start)).toBe(true);
  });

  it('comes from AbortSignal.timeout, alone or together with others', async () => {
    expect(await verdict(AbortSignal.timeout(1))).toBe(true);
    const never = new AbortController().signal;
    expect(await verdict(AbortSignal.any([never, AbortSignal.timeout(1)]))).toBe(true);
  });

  it.each([
    ['a TimeoutError', new DOMException('late', 'TimeoutError')],
    ['the word', 'timeout'],
    ['ETIMEDOUT', Object.assign(new Error('late'), { code: 'ETIMEDOUT' })],
    ['ECONNABORTED', Object.assign(new Error('late'), { code: 'ECONNABORTED' })],
  ])('says so by its reason: %s', (_what, reason) => {
    expect(comesFromTimer(reason)).toBe(true);
  });
});

describe('an abort that is the wish of the user', () => {
  it.each([
    ['in plain code', (controller: AbortController) => controller.abort()],
    [
      'after a promise',
      (controller: AbortController) => Promise.resolve().then(() => controller.abort()),
    ],
    ['at the next turn', (controller: AbortController) => turn().then(() => controller.abort())],
    ['at a tick', (controller: AbortController) => process.nextTick(() => controller.abort())],
  ])('comes %s', async (_where, start) => {
    await turn();
    expect(await abortedBy(start)).toBe(false);
  });

  it('comes from code that has waited for a timer', async () => {
    const start = async (controller: AbortController) => {
      await new Promise((resolve) => setTimeout(resolve, 1));
      controller.abort();
    };
    expect(await abortedBy(start)).toBe(false);
  });

  it.each([
    ['an AbortError', new DOMException('stop', 'AbortError')],
    ['an error', new Error('stop')],
    ['a word', 'stop'],
    ['null', null],
    ['nothing', undefined],
  ])('has any other reason: %s', async (_what, reason) => {
    await turn();
    expect(comesFromTimer(reason)).toBe(false);
  });
});
