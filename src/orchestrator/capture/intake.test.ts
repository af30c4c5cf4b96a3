import { afterAll, beforeAll, expect, it } from 'vitest';
import { batchify } from '../../core.ts';
import { type Simulator, startSimulator } from '../../simulator/index.ts';

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

it.each<[string, unknown, string]>([
  ['an error', new Error('the predicate is broken'), 'the predicate is broken'],
  ['anything', Object.create(null), '[object Object]'],
])(
  'answers a call whose choice throws %s with 400, and the others as ever',
  async (_, thrown, message) => {
    const scope = batchify({
      store: ':memory:',
      window: '20ms',
      poll: '10ms',
      hosts: { [simulator.baseUrl('openai')]: 'openai' },
      only: ({ model }) => {
        if (model === 'odd') throw thrown;
        return true;
      },
    });
    const odd = ask(scope.fetch, 'odd');
    const others = [1, 2].map((index) => ask(scope.fetch, `even-${index}`));
    expect((await Promise.all(others)).map(({ status }) => status)).toEqual([200, 200]);
    const refused = await odd;
    expect(refused.status).toBe(400);
    expect(refused.headers.get('x-should-retry')).toBe('false');
    expect(await refused.json()).toMatchObject({
      error: { type: 'batchling_unsupported', message: expect.stringContaining(message) },
    });
    await scope.close();
    expect(scope.stats).toMatchObject({ captured: 3, answered: 3, failed: 1, bypassed: 0 });
    expect(simulator.meter).toMatchObject({ realtime: 0 });
  },
);
