import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { batchify } from '../../../src/index.ts';
import { openStage, type Stage } from '../../support/stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage({ models: ['gpt-known', 'claude-known'] });
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

function chat(model: string, content = 'why?') {
  const messages = [{ role: 'user' as const, content }];
  return stage.openai({ maxRetries: 0 }).chat.completions.create({ model, messages });
}

function message(model: string) {
  const messages = [{ role: 'user' as const, content: 'why?' }];
  return stage.anthropic({ maxRetries: 0 }).messages.create({ model, max_tokens: 9, messages });
}

it('refuses a model in real time as its provider does, and knows the others', async () => {
  await expect(chat('gpt-5-minni')).rejects.toMatchObject({
    status: 404,
    code: 'model_not_found',
    message: expect.stringContaining('The model `gpt-5-minni` does not exist'),
  });
  await expect(message('claude-nobody')).rejects.toMatchObject({
    status: 404,
    type: 'not_found_error',
    message: expect.stringContaining('model: claude-nobody'),
  });
  await chat('gpt-known');
  await message('claude-known');
  expect(stage.simulator.meter).toMatchObject({ total: 2, failed: 2 });
});

it('refuses a line of an Anthropic batch', async () => {
  const [known, unknown] = await batchify(
    () => Promise.allSettled([message('claude-known'), message('claude-nobody')]),
    stage.options(),
  );
  expect(known).toMatchObject({ status: 'fulfilled' });
  expect(unknown).toMatchObject({ reason: { status: 404, type: 'not_found_error' } });
});

it('tells all callers of an OpenAI batch at once, not line by line', async () => {
  const prompts = Array.from({ length: 20 }, (_, index) => `question ${index}`);
  const scope = batchify(stage.options());
  const results = await scope.run(() =>
    Promise.allSettled([
      ...prompts.map((prompt) => chat('gpt-5-minni', prompt)),
      chat('gpt-known', 'beside them'),
    ]),
  );
  await scope.close();
  const known = results.pop();
  expect(known).toMatchObject({ status: 'fulfilled' });
  for (const result of results) {
    expect(result).toMatchObject({
      status: 'rejected',
      reason: {
        code: 'model_not_found',
        message: expect.stringContaining("'gpt-5-minni' is not supported by the Batch API"),
      },
    });
  }
  expect(stage.simulator.batches()).toHaveLength(2);
  expect(stage.simulator.meter.total).toBe(1);
});
