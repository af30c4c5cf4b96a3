import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chatRequest } from '../../support/ask.ts';
import { resultOf } from '../../support/processes/run-program.ts';
import { chatUrl } from '../../support/source-of.ts';
import { openStage, type Stage } from '../../support/stage.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());

describe('a Request that its maker has dropped', () => {
  it('is still cancelled by its controller after the garbage was collected', async () => {
    const told = await resultOf('dropped-request', {
      url: chatUrl(stage),
      request: chatRequest('not needed'),
      options: stage.options({ window: '1h', maxWindow: '1h' }),
    });
    expect(told).toEqual({ afterAbort: 'AbortError', atTheEnd: 'AbortError' });
    expect(stage.simulator.requests).toEqual([]);
  });
});
