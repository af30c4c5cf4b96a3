import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type BatchifyOptions, batchify } from '../../../src/index.ts';
import { chatRequest } from '../../support/ask.ts';
import { type HoldingServer, startHoldingServer } from '../../support/servers/holding-server.ts';
import { soon, until } from '../../support/until.ts';

let server: HoldingServer;

beforeEach(async () => {
  server = await startHoldingServer();
});
afterEach(() => server.close());

const count = 3_000;
/** A hundred are told in a turn; several groups may be told at once. */
const fewPerTurn = 500;

/** Everything goes out as a realtime call, two at a time. */
function options(given: BatchifyOptions = {}): BatchifyOptions {
  const hosts = { [server.baseUrl]: 'openai' } as const;
  const line = { minBatch: 1_000_000, realtimeConcurrency: 2 };
  return { store: ':memory:', hosts, window: '20ms', ...line, ...given };
}

/** The most of `counter` that any turn of the event loop adds, until the returned function is called. */
function watchTurns(counter: () => number): () => number {
  let most = 0;
  let before = counter();
  let isOver = false;
  const look = () => {
    most = Math.max(most, counter() - before);
    before = counter();
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  return () => {
    isOver = true;
    return Math.max(most, counter() - before);
  };
}

/** Calls of which two are at the provider and the others wait for their turn. */
async function waitingCalls(given: BatchifyOptions = {}, init: RequestInit = {}) {
  const scope = batchify(options(given));
  const outcomes: unknown[] = [];
  const note = (outcome: unknown) => outcomes.push(outcome);
  const url = `${server.baseUrl}/chat/completions`;
  scope.run(() => {
    for (let call = 0; call < count; call += 1) {
      const request = { ...chatRequest(`question ${call}`), ...init };
      fetch(url, request).then(({ status }) => note(status), note);
    }
  });
  let flushed = 0;
  scope.on('queue:flushed', ({ count }) => {
    flushed += count;
  });
  await until(() => flushed === count && server.held.length === 2, 'the line');
  // The last of them get in line.
  for (let turns = 0; turns < 2 * (count / 100); turns += 1) await turn();
  return { scope, outcomes };
}

describe('a long line of realtime calls', () => {
  it('is told in many turns when the scope is cancelled', async () => {
    const { scope, outcomes } = await waitingCalls();
    const most = watchTurns(() => outcomes.length);
    await soon(scope.cancel());
    await until(() => outcomes.length === count - 2, 'the callers');
    expect(most()).toBeLessThanOrEqual(fewPerTurn);
    expect(new Set(outcomes)).toEqual(new Set([499]));
    while (server.held.length > 0) server.answer();
    await soon(scope.close());
    expect(server.seen).toBe(2);
  });

  it.each(['scope', 'calls'])('is told in many turns by one signal of the %s', async (whose) => {
    const stop = new AbortController();
    const { signal } = stop;
    const { scope, outcomes } = await waitingCalls(
      ...(whose === 'scope' ? [{ signal }] : [{}, { signal }]),
    );
    const most = watchTurns(() => outcomes.length);
    const reason = new Error('enough');
    stop.abort(reason);
    await until(() => outcomes.length === count, 'the callers');
    expect(most()).toBeLessThanOrEqual(fewPerTurn);
    expect(new Set(outcomes)).toEqual(new Set([reason]));
    await soon(scope.close());
    expect(server.seen).toBe(2);
  });

  it('goes out in many turns when it is flushed', async () => {
    const plain = globalThis.fetch;
    let sent = 0;
    // What comes out is counted here, and goes no further.
    globalThis.fetch = async () => {
      sent += 1;
      return new Response('{}');
    };
    try {
      const most = watchTurns(() => sent);
      const url = `${server.baseUrl}/chat/completions`;
      const calls = Array.from({ length: count }, (_, call) => chatRequest(`question ${call}`));
      await batchify(
        () => Promise.all(calls.map((request) => fetch(url, request))),
        options({ realtimeConcurrency: count }),
      );
      expect(sent).toBe(count);
      expect(most()).toBeLessThanOrEqual(fewPerTurn);
    } finally {
      globalThis.fetch = plain;
    }
  });
});

describe('Node warns of no leak', () => {
  const ways: [string, BatchifyOptions][] = [
    ['minBatch', {}],
    [
      'a deadline',
      { minBatch: 1, window: '1h', maxWindow: '1h', deadline: '100ms', onDeadline: 'realtime' },
    ],
  ];

  it.each(ways)('when many calls go out by %s', async (_, given) => {
    const warnings: Error[] = [];
    const note = (warning: Error) => warnings.push(warning);
    process.on('warning', note);
    try {
      const scope = batchify(options(given));
      const url = `${server.baseUrl}/chat/completions`;
      const calls = Array.from({ length: 30 }, (_, call) => chatRequest(`question ${call}`));
      const asked = scope.run(() => Promise.all(calls.map((request) => fetch(url, request))));
      await until(() => server.held.length === 2, 'the line');
      while (server.seen < 30) {
        const { seen } = server;
        server.answer();
        await until(() => server.seen > seen, 'the next call');
      }
      while (server.held.length > 0) server.answer();
      await soon(asked);
      await soon(scope.close());
      await turn();
      expect(warnings).toEqual([]);
    } finally {
      process.off('warning', note);
    }
  });
});
