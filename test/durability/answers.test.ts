import { afterAll, beforeAll, expect, it } from 'vitest';
import { batchify } from '../../src/index.ts';
import { runProgram } from '../support/processes/run-program.ts';
import { chatUrl, sourceOf } from '../support/source-of.ts';
import { openStage, type Stage } from '../support/stage.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());

it('an answer that a caller has is in the ledger, whatever becomes of the program then', async () => {
  const { simulator } = stage;
  const options = stage.options();
  const baseURL = simulator.baseUrl('openai');
  const { code } = await runProgram('die-when-answered', { prompt: 'question', baseURL, options });
  expect(code).toBeNull();
  expect(simulator.meter.total).toBe(1);
  const before = simulator.requests.length;
  expect(chatUrl(stage)).toContain(baseURL);
  expect(await batchify(() => sourceOf(stage, 'question'), options)).toBe('ledger');
  expect(simulator.requests.slice(before).filter(({ path }) => /content$/.test(path))).toEqual([]);
});
