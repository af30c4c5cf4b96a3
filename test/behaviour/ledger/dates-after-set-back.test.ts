import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { batchify } from '../../../src/index.ts';
import { chatRequest } from '../../support/ask.ts';
import { chatUrl } from '../../support/source-of.ts';
import { openStage, type Stage } from '../../support/stage.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
afterEach(() => vi.restoreAllMocks());

it('a deadline that is a date means the time of the system clock, even after that was set back', async () => {
  const ask = () => fetch(chatUrl(stage), chatRequest('in time'));
  const right = Date.now.bind(Date);
  const ahead = vi.spyOn(Date, 'now').mockImplementation(() => right() + 3_600_000);
  expect((await batchify(ask, stage.options())).status).toBe(200);
  ahead.mockRestore();
  const deadline = new Date(Date.now() + 600_000);
  expect((await batchify(ask, stage.options({ deadline }))).status).toBe(200);
});
