import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { batchify } from '../../src/index.ts';
import { chatRequest } from '../support/ask.ts';
import { runProgram } from '../support/run-program.ts';
import { chatUrl } from '../support/source-of.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { soon } from '../support/until.ts';

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

it('a call whose body is being read gets 499 when the scope throws', async () => {
  let call: Promise<Response> | undefined;
  const failed = batchify(async () => {
    await askBefore();
    call = ask();
    throw mistake;
  }, stage.options());
  await expect(failed).rejects.toBe(mistake);
  expect((await soon(call as Promise<Response>)).status).toBe(499);
  expect(stage.simulator.meter.total).toBe(1);
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
  expect({ code, stdout }).toEqual({ code: 0, stdout: '499\n' });
});
