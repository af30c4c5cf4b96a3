import { afterAll, beforeAll, expect, it } from 'vitest';
import { batchify } from '../core.ts';
import { type Simulator, startSimulator } from '../simulator/index.ts';

let simulator: Simulator;

beforeAll(async () => {
  simulator = await startSimulator({
    speed: { validating: 5, running: 5, finalizing: 5, cancelling: 5 },
  });
});
afterAll(() => simulator.close());

function ask(fetch: typeof globalThis.fetch, model: string): Promise<Response> {
  return fetch(`${simulator.baseUrl('openai')}/chat/completions`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-1', 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hello' }] }),
  });
}

it('answers the other calls when the choice of one of them throws', async () => {
  const scope = batchify({
    store: ':memory:',
    window: '20ms',
    poll: '10ms',
    hosts: { [simulator.baseUrl('openai')]: 'openai' },
    only: ({ model }) => {
      if (model === 'odd') throw new Error('the predicate is broken');
      return true;
    },
  });
  const odd = ask(scope.fetch, 'odd').then(
    ({ status }) => `status ${status}`,
    (error: Error) => error.message,
  );
  const others = [1, 2].map((index) => ask(scope.fetch, `even-${index}`));
  expect((await Promise.all(others)).map(({ status }) => status)).toEqual([200, 200]);
  expect(await odd).toMatch(/predicate is broken|status 4\d\d/);
  await scope.close();
});
