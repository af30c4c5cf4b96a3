import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openStage, type Stage } from '../support/stage.ts';
import { until } from '../support/until.ts';
import { chatBody, type GatewayProcess, startGateway, textOf } from './start-gateway.ts';

let stage: Stage;
let gateway: GatewayProcess;
const store = () => stage.newStore();

beforeAll(async () => {
  stage = await openStage({ answer: ({ prompt }) => `You asked: ${prompt}` });
  gateway = await startGateway(stage);
});

afterEach(() => stage.simulator.release());

afterAll(async () => {
  await gateway.kill();
  await stage.close();
});

const later = { prefer: 'respond-async' };
const credential = { authorization: 'Bearer sk-client' };

/** Asks, and returns where the answer will be. */
async function askLater(at: GatewayProcess, content: string): Promise<string> {
  const response = await at.ask(content, later);
  expect(response.status).toBe(202);
  const location = response.headers.get('location') as string;
  expect(location).toMatch(/^\/requests\/[\w.-]+$/);
  return location;
}

function look(at: GatewayProcess, location: string, headers = credential, method = 'GET') {
  return fetch(`${at.url}${location}`, { headers, method });
}

/** The same place with another keyed hash, whatever its last character was. */
function forged(location: string): string {
  return location.slice(0, -1) + (location.endsWith('x') ? 'y' : 'x');
}

/** Looks until it is there. */
async function answerAt(at: GatewayProcess, location: string): Promise<Response> {
  for (;;) {
    const response = await look(at, location);
    if (response.status !== 202) return response;
    expect(response.headers.get('retry-after')).not.toBeNull();
    await response.arrayBuffer();
  }
}

describe('Prefer: respond-async', () => {
  it('is answered with a place where the answer will be', async () => {
    const billed = stage.simulator.meter.total;
    stage.simulator.hold();
    const location = await askLater(gateway, 'one');
    expect((await look(gateway, location)).status).toBe(202);
    stage.simulator.release();
    const answer = await answerAt(gateway, location);
    expect(answer.headers.get('x-batchling-source')).toBe('batch');
    expect(await textOf(answer)).toBe('You asked: one');
    expect(await textOf(await look(gateway, location))).toBe('You asked: one');
    expect(stage.simulator.meter.total - billed).toBe(1);
  });

  it('is the same request when it is asked again, and another sample in a run with a name', async () => {
    const billed = stage.simulator.meter.total;
    stage.simulator.hold();
    const locations = [await askLater(gateway, 'twice'), await askLater(gateway, 'twice')];
    const named = await gateway.ask('twice', { ...later, 'x-batchling-run': 'a' });
    const second = await gateway.ask('twice', { ...later, 'x-batchling-run': 'a' });
    expect([named.status, second.status]).toEqual([202, 202]);
    stage.simulator.release();
    for (const location of locations) await answerAt(gateway, location);
    await answerAt(gateway, second.headers.get('location') as string);
    expect(stage.simulator.meter.total - billed).toBe(2);
  });

  it('is the same request for a client that did not get its 202', async () => {
    const billed = stage.simulator.meter.total;
    stage.simulator.hold();
    const lost = await askLater(gateway, 'lost');
    const again = await askLater(gateway, 'lost');
    stage.simulator.release();
    for (const location of [lost, again]) {
      expect(await textOf(await answerAt(gateway, location))).toBe('You asked: lost');
    }
    expect(stage.simulator.meter.total - billed).toBe(1);
  });

  it('does not show a key of the query in the place of the answer', async () => {
    const google = `${stage.simulator.baseUrl('google')}=google`;
    const other = await startGateway(stage, { environment: { BATCHLING_HOSTS: google } });
    const path = '/google/v1beta/models/gemini-2.5-flash:generateContent?key=g-secret&alt=json';
    const asked = await fetch(`${other.url}${path}`, {
      method: 'POST',
      headers: { ...later, 'content-type': 'application/json' },
      body: JSON.stringify({ contents: [{ role: 'user', parts: [{ text: 'three' }] }] }),
    });
    expect(asked.status).toBe(202);
    const location = asked.headers.get('location') as string;
    const [, facts = ''] = /^\/requests\/([\w-]+)\./.exec(location) ?? [];
    const text = Buffer.from(facts, 'base64url').toString();
    expect(text).toContain('gemini-2.5-flash:generateContent?alt=json');
    expect(`${location}${text}${await asked.text()}`).not.toContain('g-secret');
    const lookWith = async (query: string) =>
      (await fetch(`${other.url}${location}${query}`)).status;
    expect([200, 202]).toContain(await lookWith('?key=g-secret'));
    expect(await lookWith('')).toBe(404);
    expect(await lookWith('?key=g-other')).toBe(404);
    expect(await lookWith('?key=g-secret&key=g-other')).toBe(400);
    await other.kill();
  });

  it('shows its answer to the credential that asked, and to no other', async () => {
    const location = await askLater(gateway, 'two');
    const others = [
      look(gateway, location, { authorization: 'Bearer sk-other' }),
      fetch(`${gateway.url}${location}`),
      look(gateway, forged(location)),
      look(gateway, '/requests/nonsense'),
      look(gateway, location, { authorization: 'Bearer sk-other' }, 'DELETE'),
    ];
    for (const response of await Promise.all(others)) expect(response.status).toBe(404);
    expect((await answerAt(gateway, location)).status).toBe(200);
  });

  it('tells an error with its status', async () => {
    const location = await askLater(gateway, '[[status 400 bad_thing]]');
    expect((await answerAt(gateway, location)).status).toBe(400);
  });

  it('can be cancelled: what is not sent yet is never sent', async () => {
    const billed = stage.simulator.meter.total;
    const response = await gateway.ask('never', { ...later, 'x-batchling-window': '10m' });
    const location = response.headers.get('location') as string;
    expect((await look(gateway, location, credential, 'DELETE')).status).toBe(204);
    expect((await look(gateway, location)).status).toBe(499);
    await gateway.ask('afterwards');
    expect(stage.simulator.meter.total - billed).toBe(1);
  });

  it('is not for a stream, which is answered as one', async () => {
    const response = await fetch(`${gateway.url}/openai/v1/chat/completions`, {
      method: 'POST',
      headers: { ...credential, ...later, 'content-type': 'application/json' },
      body: chatBody('stream', { stream: true }),
    });
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    expect(await response.text()).toContain('data: [DONE]');
  });
});

describe('a gateway that is killed', () => {
  it.each([
    ['before the batch was sent', '10m', 0],
    ['while the batch was under way', '20ms', 1],
  ])('%s: the next one goes on when the client asks', async (_, window, batches) => {
    const path = store();
    const billed = stage.simulator.meter.total;
    const created = stage.simulator.countRequests('POST', '/v1/batches');
    const environment = { BATCHLING_WINDOW: window, BATCHLING_MAX_WINDOW: '10m' };
    const first = await startGateway(stage, { store: path, environment });
    stage.simulator.hold();
    const location = await askLater(first, `killed ${window}`);
    await until(() => stage.simulator.countRequests('POST', '/v1/batches') - created === batches);
    await first.kill('SIGKILL');
    stage.simulator.release();
    const second = await startGateway(stage, { store: path });
    expect(await textOf(await answerAt(second, location))).toBe(`You asked: killed ${window}`);
    expect(stage.simulator.meter.total - billed).toBe(1);
    const other = { authorization: 'Bearer sk-other' };
    expect((await look(second, location, other)).status).toBe(404);
    await second.kill();
  });

  it('or stopped after the answer came: the next one has it from the ledger', async () => {
    const path = store();
    const first = await startGateway(stage, { store: path });
    const location = await askLater(first, 'answered');
    await answerAt(first, location);
    // A killed one may not have written the answer yet: the next one would get it from the provider again.
    await first.kill('SIGTERM');
    const second = await startGateway(stage, { store: path });
    const stored = await answerAt(second, location);
    expect(stored.headers.get('x-batchling-source')).toBe('ledger');
    expect(await textOf(stored)).toBe('You asked: answered');
    await second.kill();
  });
});
