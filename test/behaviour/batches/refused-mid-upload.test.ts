import { afterEach, beforeEach, expect, it } from 'vitest';
import { batchify } from '../../../src/index.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { soon } from '../../support/until.ts';

let stage: Stage;

beforeEach(async () => {
  stage = await openStage({ meterBodies: false });
});
afterEach(() => stage.close());

const epoch = Date.now();
/** Pauses between tries are waited for, but not at their length. */
const quickly = {
  now: () => epoch + (Date.now() - epoch) * 20,
  setTimeout: (callback: () => void, delay: number) => setTimeout(callback, delay / 20),
  clearTimeout: (timer: unknown) => clearTimeout(timer as NodeJS.Timeout),
};

const prompts = ['one', 'two', 'three', 'four'];
/** More than the buffers of a connection take, so that the answer comes while the rest is to be sent. */
const filler = 'x'.repeat(2_000_000);

it('a proxy that answers 413 with a page in the middle of an upload and hangs up: sent in halves', async () => {
  const { simulator } = stage;
  const action = { kind: 'refuse-mid-body', status: 413 } as const;
  // As often as the whole is tried.
  simulator.faults.add({ method: 'POST', path: '/v1/files', times: 4, action });
  const client = stage.openai({ maxRetries: 0 });
  const ask = async (prompt: string) => {
    const { choices } = await client.chat.completions.create({
      model: 'gpt-test',
      messages: [
        { role: 'system', content: filler },
        { role: 'user', content: prompt },
      ],
    });
    return choices[0]?.message.content;
  };
  const options = stage.options({ clock: quickly, window: '30s', poll: '1s' });
  const answers = await soon(batchify(() => Promise.all(prompts.map(ask)), options));
  expect(answers).toEqual(
    prompts.map((prompt) => expect.stringContaining(`answer to "${prompt}"`)),
  );
  // The page is heard or not, as the race of two connections has it; the whole never passes.
  const sizes = simulator.batches().map(({ total }) => total);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(2);
  expect(simulator.meter.total).toBe(4);
});
