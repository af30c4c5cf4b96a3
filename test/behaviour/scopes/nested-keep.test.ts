import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { batchify } from '../../../src/index.ts';
import { chatRequest } from '../../support/ask.ts';
import { chatUrl } from '../../support/source-of.ts';
import { openStage, type Stage } from '../../support/stage.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

const ask = (prompt: string) => fetch(chatUrl(stage), chatRequest(prompt));

/** The simulator's answers quote their prompts. */
function isInFiles(store: string, text: string): boolean {
  return [store, `${store}-wal`].some(
    (file) => existsSync(file) && readFileSync(file).includes(text),
  );
}

describe('scopes on one store that keep different things', () => {
  it.each([
    ['answers', 'none'],
    ['none', 'answers'],
  ] as const)(
    'keep what each of them asked for: outside %s, inside %s',
    async (outside, inside) => {
      const store = stage.newStore();
      await batchify(
        async () => {
          await ask('said outside');
          await batchify(() => ask('said inside'), { keep: inside });
          await ask('said outside again');
        },
        stage.options({ store, keep: outside }),
      );
      expect(stage.simulator.meter.total).toBe(3);
      expect(isInFiles(store, 'said inside')).toBe(inside === 'answers');
      expect(isInFiles(store, 'said outside again')).toBe(outside === 'answers');
    },
  );

  it('count their samples together', async () => {
    const store = stage.newStore();
    const texts = await batchify(async () => {
      const outer = ask('the same');
      const inner = batchify(() => ask('the same'), { keep: 'none' });
      return Promise.all([outer, inner].map(async (one) => (await one).text()));
    }, stage.options({ store }));
    // Two samples of one run.
    expect(new Set(texts).size).toBe(2);
    expect(stage.simulator.meter.total).toBe(2);
  });
});
