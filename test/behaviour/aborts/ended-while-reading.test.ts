import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { batchify } from '../../../src/index.ts';
import { chatRequest } from '../../support/ask.ts';
import { watchCall } from '../../support/is-told.ts';
import { runProgram } from '../../support/processes/run-program.ts';
import { chatUrl } from '../../support/source-of.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { soon, until } from '../../support/until.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

const mistake = new Error('a mistake of the program');

/** Its body has to be read before it can be captured. */
const ask = (init?: RequestInit) =>
  fetch(new Request(chatUrl(stage), chatRequest('being read')), init);

/** The engine is open: nothing but the reading is waited for. */
const askBefore = () => fetch(chatUrl(stage), chatRequest('before'));

it('a call whose body is being read is told nothing when the scope throws, and not sent', async () => {
  let call: { readonly isTold: boolean } | undefined;
  const failed = batchify(async () => {
    await askBefore();
    call = watchCall(ask());
    throw mistake;
  }, stage.options());
  await expect(failed).rejects.toBe(mistake);
  await batchify(askBefore, stage.options());
  expect(call?.isTold).toBe(false);
  expect(stage.simulator.meter.total).toBe(2);
});

it('a call whose body is being read is rejected when the scope is aborted', async () => {
  const controller = new AbortController();
  const scope = batchify(stage.options({ signal: controller.signal }));
  await scope.run(askBefore);
  const call = scope.run(() => ask());
  controller.abort(mistake);
  await expect(soon(call)).rejects.toBe(mistake);
  expect(stage.simulator.meter.total).toBe(1);
});

it('a call that is aborted while its body is read is rejected and never sent', async () => {
  const controller = new AbortController();
  const scope = batchify(stage.options());
  const call = scope.run(() => ask({ signal: controller.signal }));
  controller.abort(mistake);
  await expect(soon(call)).rejects.toBe(mistake);
  await scope.close();
  expect(stage.simulator.meter.total).toBe(0);
});

it('a program whose scope throws while a body is read ends by itself', async () => {
  const input = { url: chatUrl(stage), request: chatRequest('alive'), options: stage.options() };
  const { code, stdout } = await runProgram('throws-while-reading', input);
  expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
});

describe('a call whose streamed body never ends', () => {
  let stopped: unknown[];

  const askSlowly = (signal: AbortSignal | null = null) => {
    stopped = [];
    const body = new ReadableStream({
      start: (stream) => stream.enqueue(new TextEncoder().encode('{"model":')),
      cancel: (reason) => {
        stopped.push(reason);
      },
    });
    const init = { ...chatRequest('never'), body, signal, duplex: 'half' } as RequestInit;
    return fetch(chatUrl(stage), init);
  };

  it('is rejected when its caller aborts, and the scope can be closed', async () => {
    const controller = new AbortController();
    const scope = batchify(stage.options());
    const call = scope.run(() => askSlowly(controller.signal));
    controller.abort(mistake);
    await expect(soon(call)).rejects.toBe(mistake);
    await soon(scope.close());
    expect(stopped).toHaveLength(1);
    expect(stage.simulator.requests).toEqual([]);
  });

  it('is rejected when the scope is aborted', async () => {
    const controller = new AbortController();
    const scope = batchify(stage.options({ signal: controller.signal }));
    const call = scope.run(() => askSlowly());
    controller.abort(mistake);
    await expect(soon(call)).rejects.toBe(mistake);
    expect(stopped).toHaveLength(1);
  });

  it('gets 499 when the scope is cancelled', async () => {
    const scope = batchify(stage.options());
    const call = scope.run(() => askSlowly());
    await soon(scope.cancel());
    expect((await soon(call)).status).toBe(499);
    await soon(scope.close());
    expect(stopped).toHaveLength(1);
  });

  it('is told to stop when the scope throws, and its caller nothing', async () => {
    let call: { readonly isTold: boolean } | undefined;
    const failed = batchify(() => {
      call = watchCall(askSlowly());
      throw mistake;
    }, stage.options());
    await expect(failed).rejects.toBe(mistake);
    await until(() => stopped.length === 1, 'the end of the stream');
    await batchify(askBefore, stage.options());
    expect(call?.isTold).toBe(false);
  });
});

describe('a streamed body', () => {
  it('is batched once it is there', async () => {
    const bytes = new TextEncoder().encode(chatRequest('Grüße').body as string);
    const body = new ReadableStream({
      start(stream) {
        // Cut within a character.
        const cut = bytes.indexOf(0xc3) + 1;
        stream.enqueue(bytes.subarray(0, cut));
        stream.enqueue(bytes.subarray(cut));
        stream.close();
      },
    });
    const init = { ...chatRequest('Grüße'), body, duplex: 'half' } as RequestInit;
    const response = await batchify(() => fetch(chatUrl(stage), init), stage.options());
    expect(await response.text()).toContain('Grüße');
    expect(stage.simulator.meter).toMatchObject({ batched: 1, realtime: 0 });
  });
});
