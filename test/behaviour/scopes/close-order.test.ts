import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { batchify } from '../../../src/index.ts';
import { chatRequest } from '../../support/ask.ts';
import { chatUrl } from '../../support/source-of.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { soon, until } from '../../support/until.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

const send = (prompt: string) => fetch(chatUrl(stage), chatRequest(prompt));

/** The end of a scope as its listeners see it, while another one keeps the engine open. */
describe.each([
  ['a ledger file', () => stage.newStore()],
  ['a ledger in memory', () => ':memory:'],
])('close() with %s', (_, newStore) => {
  it('resolves after the last event of its batches', async () => {
    const store = newStore();
    const other = batchify(stage.options({ store }));
    await other.run(() => send('keeps the engine open'));
    for (let round = 0; round < 5; round += 1) {
      const events: string[] = [];
      const scope = batchify(stage.options({ store }));
      for (const name of ['call:answered', 'batch:ended', 'batch:collected'] as const) {
        scope.on(name, () => events.push(name));
      }
      scope.run(() => void send(`round ${round}`));
      await scope.close();
      expect(events).toEqual(['batch:ended', 'call:answered', 'batch:collected']);
      expect(scope.stats.batches).toMatchObject({ submitted: 1, ended: 1 });
    }
    await other.close();
  });

  it('does not wait for calls of other scopes in the same batch', async () => {
    const store = newStore();
    const policy = { store, window: '50s', maxWindow: '55s', batchSize: 2 } as const;
    const [one, other] = [batchify(stage.options(policy)), batchify(stage.options(policy))];
    stage.simulator.hold();
    const controller = new AbortController();
    const left = one
      .run(() => fetch(chatUrl(stage), { ...chatRequest('left'), signal: controller.signal }))
      .catch(() => 'left');
    const waiting = other.run(() => send('waiting'));
    await until(() => other.stats.batches.submitted === 1, 'the batch');
    controller.abort();
    expect(await left).toBe('left');
    await soon(one.close());
    stage.simulator.release();
    expect((await waiting).status).toBe(200);
    await other.close();
  });

  it('does not wait for results that cannot be read once its calls are answered', async () => {
    const store = newStore();
    const other = batchify(stage.options({ store }));
    await other.run(() => send('keeps the engine open'));
    // The first file is read, the second one never.
    const broken = stage.simulator.faults.add({
      method: 'GET',
      path: /content$/,
      skip: 1,
      times: Number.POSITIVE_INFINITY,
      action: { kind: 'garbage' },
    });
    const policy = { store, window: '50s', maxWindow: '55s', batchSize: 2 } as const;
    const scope = batchify(stage.options(policy));
    const gone = new AbortController();
    stage.simulator.hold();
    const asked = scope.run(() => [
      send('answered'),
      fetch(chatUrl(stage), { ...chatRequest('[[status 400]]'), signal: gone.signal }),
    ]);
    asked[1]?.catch(() => undefined);
    await until(() => scope.stats.batches.submitted === 1, 'the batch');
    gone.abort();
    stage.simulator.release();
    expect((await soon(asked[0] as Promise<Response>)).status).toBe(200);
    await soon(scope.close());
    expect(broken.hits).toBeGreaterThan(0);
    await other.close();
  });
});
