import { ChatOpenAI } from '@langchain/openai';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { batchify } from '../../../src/index.ts';
import { hearStderr } from '../../support/heard.ts';
import { openStage, type Stage } from '../../support/stage.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
afterEach(() => vi.restoreAllMocks());

/** What is said about small batches while LangChain's own batching asks for `inputs` answers. */
async function hints(inputs: number, maxConcurrency?: number): Promise<string[]> {
  const heard = hearStderr();
  await batchify(
    () => {
      const model = new ChatOpenAI({
        model: 'gpt-test',
        apiKey: 'sk-test-key',
        configuration: { baseURL: stage.simulator.baseUrl('openai') },
      });
      const asked = Array.from({ length: inputs }, (_, at) => `Tell me about the number ${at}.`);
      return model.batch(asked, { ...(maxConcurrency && { maxConcurrency }) });
    },
    stage.options({ display: 'plain', window: '50ms' }),
  );
  return heard.lines().filter((line) => line.includes('large-batches'));
}

it('maxConcurrency of LangChain is noticed with the second batch', async () => {
  expect(await hints(21, 7)).toEqual([expect.stringContaining('maxConcurrency')]);
});

it('LangChain without a limit is left alone', async () => {
  expect(await hints(21)).toEqual([]);
});
