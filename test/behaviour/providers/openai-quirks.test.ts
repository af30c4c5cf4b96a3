import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { batchify } from '../../../src/index.ts';
import { ask } from '../../support/ask.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { soon } from '../../support/until.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

/** The text of each answer, or the status of its error. */
async function askAll(...prompts: string[]): Promise<(string | number)[]> {
  const client = stage.openai();
  // All of them in one batch, however slow the machine is.
  const options = stage.options({ batchSize: prompts.length, window: '300ms' });
  const settled = await soon(
    batchify(() => Promise.allSettled(prompts.map((prompt) => ask(client, prompt))), options),
  );
  return settled.map((one) => (one.status === 'fulfilled' ? one.value : one.reason.status));
}

const answerTo = (prompt: string) => expect.stringContaining(`answer to "${prompt}"`);
const batches = () => stage.simulator.batches().map(({ ending }) => ending);

it('a completed batch may have an error file only: every line failed', async () => {
  expect(await askAll('a [[status 400]]', 'b [[status 404]]')).toEqual([400, 404]);
  expect(batches()).toEqual(['completed']);
});

it('an empty id of an error file means that there is none', async () => {
  stage.simulator.configure({ emptyErrorFileId: true });
  expect(await askAll('a', 'b')).toEqual([answerTo('a'), answerTo('b')]);
  const read = stage.simulator.requests.filter(({ path }) => path.endsWith('/content'));
  expect(read).toHaveLength(1);
});

it('counts that know of no failure are not believed', async () => {
  stage.simulator.configure({ wrongRequestCounts: true });
  expect(await askAll('a', 'b [[status 400]]')).toEqual([answerTo('a'), 400]);
  expect(stage.simulator.meter.total).toBe(1);
});

it('what an expired batch has finished is paid for, and not asked again', async () => {
  stage.simulator.faults.nextBatch({ outcome: 'expired', completedFraction: 0.5 });
  expect(await askAll('a', 'b')).toEqual([answerTo('a'), answerTo('b')]);
  expect(batches()).toEqual(['expired', 'completed']);
  expect(stage.simulator.meter.total).toBe(2);
});

it('an empty 200 and a line that cannot be read trouble no other line', async () => {
  const prompts = ['a', 'b [[once empty]]', 'c [[once broken]]', 'd'];
  expect(await askAll(...prompts)).toEqual(prompts.map(answerTo));
  const { batchId } = stage.simulator.meter.executions[0] ?? {};
  const first = stage.simulator.meter.executions.filter((one) => one.batchId === batchId);
  expect(first).toHaveLength(2);
});

it('result files that are not there right away are asked for again', async () => {
  stage.simulator.configure({ resultsNotFoundReads: 2 });
  expect(await askAll('a', 'b')).toEqual([answerTo('a'), answerTo('b')]);
  expect(batches()).toEqual(['completed']);
  expect(stage.simulator.meter.total).toBe(2);
});

it('a request without a line in either file is noticed, and sent again alone', async () => {
  expect(await askAll('a', 'b [[once missing]]')).toEqual([answerTo('a'), expect.any(String)]);
  expect(stage.simulator.batches().map(({ requests }) => requests)).toEqual([2, 1]);
});
