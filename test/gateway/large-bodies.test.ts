import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStage, type Stage } from '../support/stage.ts';
import { chatBody, type GatewayProcess, startGateway } from './start-gateway.ts';

const clients = 28;
const large = 'a'.repeat(8_000_000);
let stage: Stage;
let gateway: GatewayProcess;

beforeAll(async () => {
  stage = await openStage();
  gateway = await startGateway(stage, {
    flags: ['--window', '10m', '--max-window', '10m'],
    environment: { NODE_OPTIONS: '--max-old-space-size=192' },
  });
});

afterAll(async () => {
  await gateway.kill();
  await stage.close();
});

/** Asks for an answer later, so that the calls are over when they are in the ledger. */
function ask(key: string, body: string | ReadableStream): Promise<Response> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  return fetch(`${gateway.url}/openai/v1/chat/completions`, {
    method: 'POST',
    headers: { ...headers, prefer: 'respond-async' },
    body,
    duplex: 'half',
  } as RequestInit);
}

/** Sent without its length. */
function inChunks(text: string): ReadableStream {
  return new Blob([text]).stream();
}

describe('more large bodies at once than the gateway has memory for', () => {
  it('are taken in one after another', async () => {
    const asked = Array.from({ length: clients }, (_, index) =>
      ask(`sk-${index}`, chatBody(`${index} ${large}`)),
    );
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    expect(statuses).toEqual(asked.map(() => 202));
  });

  it('are told to come back where they do not say how large they are', async () => {
    const asked = Array.from({ length: clients }, (_, index) =>
      ask(`sk-${index}`, inChunks(chatBody(`${index} in chunks ${large}`))),
    );
    const responses = await Promise.all(asked);
    const refused = responses.filter(({ status }) => status === 429);
    expect(responses.filter(({ status }) => status === 202)).toHaveLength(clients - refused.length);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused[0]?.headers.get('retry-after')).toBe('5');
    expect(await refused[0]?.json()).toMatchObject({ error: { type: 'batchling_too_many_bytes' } });
    // Their room is free again.
    expect((await ask('sk-0', inChunks(chatBody(`again ${large}`)))).status).toBe(202);
  });
});
