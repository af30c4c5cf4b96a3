import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { getEventListeners } from 'node:events';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type BatchifyOptions, type BatchlingEventName, batchify } from '../../../src/index.ts';
import { chatRequest } from '../../support/ask.ts';
import { watchCall } from '../../support/is-told.ts';
import { runProgram } from '../../support/processes/run-program.ts';
import { chatUrl } from '../../support/source-of.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { soon, until } from '../../support/until.ts';

let stage: Stage;
let rejections: unknown[];

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => {
  stage.simulator.reset();
  rejections = [];
  process.on('unhandledRejection', noteRejection);
});
afterEach(() => {
  process.off('unhandledRejection', noteRejection);
  vi.restoreAllMocks();
});

const noteRejection = (reason: unknown) => rejections.push(reason);
const patient = { window: '1h', maxWindow: '1h' } as const;
const mistake = new Error('a mistake of the program');
const send = (prompt: string, init: RequestInit = {}) =>
  fetch(chatUrl(stage), { ...chatRequest(prompt), ...init });

/** As an SDK does it: an error status becomes an error. */
async function sendStrictly(prompt: string): Promise<string> {
  const response = await send(prompt);
  if (!response.ok) throw new Error(`status ${response.status}`);
  return response.text();
}

/** A scope whose function throws as soon as `when` says so, and which is not waited for. */
async function throwAfter(
  work: () => void,
  when: () => boolean,
  options: BatchifyOptions,
): Promise<void> {
  const failed = batchify(async () => {
    work();
    await until(when, 'the moment to throw');
    throw mistake;
  }, options);
  await expect(soon(failed)).rejects.toBe(mistake);
}

/** Whatever was to happen because of the end of a scope has happened. */
const somethingElse = () => batchify(() => send('something else'), stage.options());

/** The next event of this name, of any scope. */
function next(name: BatchlingEventName): Promise<void> {
  return new Promise((resolve) => {
    const heard = () => {
      unsubscribe(`batchling:${name}`, heard);
      resolve();
    };
    subscribe(`batchling:${name}`, heard);
  });
}

const isSubmitted = () => stage.simulator.batches().length === 1;
const atOnce = () => true;

describe('calls that were not sent when the function threw', () => {
  it('stay unsettled, are never sent, and leave no listener behind', async () => {
    const { signal } = new AbortController();
    let calls: { readonly isTold: boolean }[] = [];
    await throwAfter(
      () => {
        calls = ['one', 'two'].map((prompt) => watchCall(send(prompt, { signal })));
        expect(getEventListeners(signal, 'abort')).toHaveLength(1);
      },
      atOnce,
      stage.options(patient),
    );
    await somethingElse();
    expect(calls.map(({ isTold }) => isTold)).toEqual([false, false]);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    expect(stage.simulator.meter.total).toBe(1);
  });

  it('do not end a process that has caught the error', async () => {
    const input = {
      url: chatUrl(stage),
      request: chatRequest('nobody awaits this'),
      options: stage.options(patient),
    };
    const { code, stdout, stderr } = await runProgram('caught-error', input, {
      BATCHLING_DISPLAY: 'plain',
    });
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'a mistake of the program\nwent on\n' });
    expect(stderr).toContain('ended by an error; 3 calls dropped that had not been sent.');
    expect(stage.simulator.requests).toEqual([]);
  });

  it('can be asked for again', async () => {
    const options = stage.options();
    await throwAfter(() => void send('again'), atOnce, { ...options, ...patient });
    const response = await batchify(() => send('again'), options);
    expect(response.status).toBe(200);
    expect(stage.simulator.meter.total).toBe(1);
  });
});

describe('clients with a time limit of ten minutes', () => {
  const ended: { after: string; throwsAfter?: BatchlingEventName; given?: BatchifyOptions }[] = [
    { after: 'an error, before calls are sent', throwsAfter: 'call:captured', given: patient },
    { after: 'an error, while batches are under way', throwsAfter: 'batch:submitted' },
    { after: 'a dry run', given: { dryRun: true } },
  ];

  it.each(ended)('do not keep the process up after $after', async ({ throwsAfter, given }) => {
    const { simulator } = stage;
    simulator.hold();
    const bases = {
      openai: simulator.baseUrl('openai'),
      anthropic: simulator.baseUrl('anthropic'),
    };
    const options = stage.options(given);
    const input = { bases, options, throwsAfter };
    const { code, stdout } = await runProgram('nobody-waits', input, {}, 60_000);
    const error = throwsAfter === undefined ? 'DryRunExit' : 'Error';
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${error}\n` });
  });

  it('are told apart from timers of the program', async () => {
    const timers: NodeJS.Timeout[] = [];
    const setLong = (work: () => void = () => undefined) => {
      const timer = setTimeout(work, 600_000);
      timers.push(timer);
      return timer;
    };
    const { signal } = new AbortController();
    const work = () => {
      const client = new AbortController();
      setLong();
      setLong(() => client.abort());
      void send('with a time limit', { signal: client.signal });
      setLong();
      void send('without a signal');
      setLong();
      void Promise.resolve().then(() => send('later', { signal }));
      expect(timers.map((timer) => timer.hasRef())).toEqual([true, true, true, true]);
    };
    await throwAfter(work, atOnce, stage.options(patient));
    expect(timers.map((timer) => timer.hasRef())).toEqual([true, false, true, true]);
    for (const timer of timers) clearTimeout(timer);
  });
});

describe('calls in a batch under way when the function threw', () => {
  it('are answered, while the process lives', async () => {
    stage.simulator.hold();
    let answer: Promise<string> | undefined;
    await throwAfter(
      () => {
        answer = sendStrictly('late');
      },
      isSubmitted,
      stage.options(),
    );
    stage.simulator.release();
    expect(await soon(answer as Promise<string>)).toContain('answer to');
  });

  it('are not paid for a second time by the next try of the same process', async () => {
    const options = stage.options();
    stage.simulator.hold();
    await throwAfter(() => void send('twice'), isSubmitted, options);
    const again = batchify(() => send('twice'), options);
    stage.simulator.release();
    expect((await soon(again)).status).toBe(200);
    expect(stage.simulator.meter.total).toBe(1);
  });

  it('get no error: no code may be there to handle it', async () => {
    stage.simulator.hold();
    let call: { readonly isTold: boolean } | undefined;
    await throwAfter(
      () => {
        const strict = sendStrictly('[[status 400]]');
        call = watchCall(strict);
        // A promise nobody handles.
        void strict.then(() => undefined);
      },
      isSubmitted,
      stage.options(),
    );
    const collected = next('batch:collected');
    stage.simulator.release();
    await soon(collected);
    await somethingElse();
    expect(call?.isTold).toBe(false);
    expect(rejections).toEqual([]);
  });

  it('are not sent again where another try could go better', async () => {
    stage.simulator.hold();
    let call: { readonly isTold: boolean } | undefined;
    await throwAfter(
      () => {
        call = watchCall(send('[[once status 500]]'));
      },
      isSubmitted,
      stage.options(),
    );
    const flushed = next('queue:flushed');
    stage.simulator.release();
    await soon(flushed);
    await somethingElse();
    expect(call?.isTold).toBe(false);
    expect(stage.simulator.countRequests('POST', '/v1/batches')).toBe(2);
  });
});
