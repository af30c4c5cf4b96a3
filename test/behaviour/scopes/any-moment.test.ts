import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type BatchifyOptions, batchify } from '../../../src/index.ts';
import { chatRequest } from '../../support/ask.ts';
import { chatUrl } from '../../support/source-of.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { soon } from '../../support/until.ts';

let stage: Stage;

beforeEach(async () => {
  stage = await openStage();
});
afterEach(() => stage.close());

/** From before the capture until after the answer. */
const moments = [0, 5, 15, 20, 25, 30, 35, 40, 50, 60, 80];

function open(given: BatchifyOptions = {}) {
  const scope = batchify(stage.options({ maxInFlight: 1, ...given }));
  const ask = (prompt: string, init: RequestInit = {}) =>
    scope.run(() => fetch(chatUrl(stage), { ...chatRequest(prompt), ...init }));
  return { scope, ask };
}

describe('at whatever moment it comes', () => {
  it('an abort leaves nothing in the way of the next call', async () => {
    for (const moment of moments) {
      const { scope, ask } = open();
      const controller = new AbortController();
      ask('x', { signal: controller.signal }).catch(() => undefined);
      await delay(moment);
      controller.abort(new Error('enough'));
      expect([moment, (await soon(ask('x'))).status]).toEqual([moment, 200]);
      await soon(scope.close());
    }
  });

  it('cancel() settles, and so do its calls and close()', async () => {
    for (const moment of moments) {
      const { scope, ask } = open();
      const asked = ask(`cancelled ${moment}`);
      await delay(moment);
      await soon(scope.cancel());
      expect([200, 499]).toContain((await soon(asked)).status);
      await soon(scope.close());
    }
  });

  it.each(['error', 'realtime'] as const)(
    'a deadline with onDeadline "%s" ends its call, paid once',
    async (onDeadline) => {
      for (const moment of moments) {
        const { scope, ask } = open({ deadline: moment + 1, onDeadline });
        expect([200, 504]).toContain((await soon(ask(`late ${moment}`))).status);
        await soon(scope.close());
      }
      expect(stage.simulator.meter.executedTwice()).toEqual([]);
    },
  );
});
