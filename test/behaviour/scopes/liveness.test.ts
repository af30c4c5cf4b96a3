import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chatRequest } from '../../support/ask.ts';
import { type Finished, runProgram } from '../../support/processes/run-program.ts';
import { chatUrl } from '../../support/source-of.ts';
import { openStage, type Stage } from '../../support/stage.ts';

let stage: Stage;
let unusedStore: string;
const finished = new Map<string, Finished>();
const forms = ['function', 'scope', 'fetch'];

beforeAll(async () => {
  stage = await openStage();
  unusedStore = stage.newStore();
  const url = chatUrl(stage);
  const request = chatRequest('are you alive');
  const run = async (form: string, store: string) => {
    // A window in which nothing but the waiting call can keep the program up.
    const options = stage.options({ store, window: '200ms' });
    const input = { form, url, request, options };
    finished.set(form, await runProgram('then-only', input));
  };
  await Promise.all([
    ...forms.map((form) => run(form, stage.newStore())),
    run('unused', unusedStore),
  ]);
});
afterAll(() => stage.close());

it.each(forms)(
  'a program with only a .then waits for its answer and ends by itself (%s)',
  (form) => {
    expect(finished.get(form)).toEqual({
      code: 0,
      stderr: '',
      stdout: expect.stringContaining('answer to \\"are you alive\\"'),
    });
  },
);

it('those programs were answered by batches', () => {
  expect(stage.simulator.meter).toMatchObject({ batched: forms.length, realtime: 1 });
});

it('a program that captures nothing ends well and leaves no ledger behind', () => {
  expect(finished.get('unused')).toEqual({
    code: 0,
    stderr: '',
    stdout: expect.stringContaining('answer to \\"are you alive\\"'),
  });
  expect(existsSync(dirname(unusedStore))).toBe(false);
});
