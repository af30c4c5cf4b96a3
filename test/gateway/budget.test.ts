import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openStage, type Stage } from '../support/stage.ts';
import { chatRequest, type GatewayProcess, startGateway } from './start-gateway.ts';

/** A million tokens of output cost $0.30 in a batch. */
const costly = { model: 'gpt-4o-mini', max_tokens: 1_000_000 };
let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterEach(() => stage.simulator.release());
afterAll(() => stage.close());

function ask(
  { url }: GatewayProcess,
  content: string,
  { body = costly, headers = {} }: { body?: object; headers?: Record<string, string> } = {},
): Promise<Response> {
  const messages = [{ role: 'user', content }];
  return fetch(`${url}/openai/v1/chat/completions`, {
    ...chatRequest(content, headers),
    body: JSON.stringify({ ...body, messages }),
  });
}

/** Asks later, so that the batch is under way when the next one is asked. */
async function begin(gateway: GatewayProcess, content: string): Promise<number> {
  const created = stage.simulator.countRequests('POST', '/v1/batches');
  const { status } = await ask(gateway, content, { headers: { prefer: 'respond-async' } });
  while (stage.simulator.countRequests('POST', '/v1/batches') === created) {
    await gateway.metric('waiting');
  }
  return status;
}

const today = () => new Date().toISOString().slice(0, 10);

describe('a gateway with a budget', () => {
  it('refuses what may pass it, in all', async () => {
    const gateway = await startGateway(stage, { flags: ['--budget', '0.5'] });
    stage.simulator.hold();
    expect(await begin(gateway, 'one')).toBe(202);
    const refused = await ask(gateway, 'two');
    expect(refused.status).toBe(402);
    expect(await refused.json()).toMatchObject({
      error: { type: 'batchling_budget', message: expect.stringContaining('budget of this run') },
    });
    const off = await ask(gateway, 'two', { headers: { 'x-batchling': 'off' } });
    expect([off.status, await off.json()]).toMatchObject([
      402,
      { error: { type: 'batchling_budget' } },
    ]);
    expect(stage.simulator.meter.realtime).toBe(0);
    await gateway.kill();
  });

  it('for a day goes on with it after a restart', async () => {
    const store = stage.newStore();
    const setting = { store, flags: ['--budget', '0.5/day'] };
    const day = today();
    const first = await startGateway(stage, setting);
    stage.simulator.hold();
    expect(await begin(first, 'three')).toBe(202);
    await first.kill();
    const second = await startGateway(stage, setting);
    const { status, ...refused } = await ask(second, 'four').then(async (response) => ({
      status: response.status,
      text: await response.text(),
    }));
    await second.kill();
    // Another day has another budget.
    if (today() !== day) return;
    expect(status).toBe(402);
    expect(refused.text).toContain(`the budget of the day ${day} (UTC) is $0.50`);
  });

  it('names a model that it cannot count in one line of its log, whatever its name is', async () => {
    const gateway = await startGateway(stage, { flags: ['--budget', '5'] });
    const model = 'own\u2028batchling: all is well\u202e2J';
    expect((await ask(gateway, 'five', { body: { model } })).status).toBe(200);
    const { stderr } = await gateway.kill();
    expect(stderr).toContain('The budget does not count own batchling: all is well 2J of openai');
    expect(stderr.split('\n').filter((line) => line.startsWith('batchling: all'))).toEqual([]);
  });
});
