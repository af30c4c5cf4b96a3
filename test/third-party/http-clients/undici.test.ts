import { Client, fetch, request } from 'undici';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { batchify } from '../../../src/index.ts';
import { chatCall } from '../../support/clients/chat-wire.ts';
import { ClientResults } from '../../support/clients/client-results.ts';
import { bypassesOf, collectWarnings } from '../../support/escaping.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

const results = new ClientResults('undici', ['undici']);
const note =
  'It brings its own way to the network. Its calls go out at full price, which is detected and ' +
  'reported with the cures.';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
beforeEach(() => stage.simulator.reset());
afterAll(async () => {
  await results.write();
  await stage.close();
});

/** What the three ways of sending have in common. */
function post() {
  const { url, json, headers } = chatCall('hello', stage);
  return {
    url,
    options: {
      method: 'POST' as const,
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(json),
    },
  };
}

const ways: [name: string, send: () => Promise<string>][] = [
  [
    'fetch',
    async () => {
      const { url, options } = post();
      return (await fetch(url, options)).text();
    },
  ],
  [
    'request',
    async () => {
      const { url, options } = post();
      return (await request(url, options)).body.text();
    },
  ],
  [
    'Client',
    async () => {
      const { url, options } = post();
      const { origin, pathname } = new URL(url);
      const client = new Client(origin);
      const { body } = await client.request({ ...options, path: pathname });
      const text = await body.text();
      await client.close();
      return text;
    },
  ],
];

describe('undici', () => {
  it.each(ways)('by its %s is not captured, but told once with both cures', (_name, send) =>
    results.judge(
      'captured',
      async () => {
        const { warnings, stop } = collectWarnings();
        const scope = batchify(stage.options());
        const bypasses = bypassesOf(scope);
        const answers = await scope.run(() => Promise.all([send(), send()]));
        await scope.close();
        for (const answer of answers) expect(answer).toContain('answer to');
        expect(stage.simulator.meter).toMatchObject({ realtime: 2, batched: 0 });
        const { url } = post();
        expect(bypasses).toEqual([
          { url, reason: expect.stringContaining('transport'), sent: true },
          { url, reason: expect.stringContaining('transport'), sent: true },
        ]);
        expect(scope.stats).toMatchObject({ captured: 0, bypassed: 2 });
        // Once per text, and the text is the same for all three ways.
        await until(() => told.push(...warnings.splice(0)) > 0, 'the warning');
        stop();
        expect(told).toHaveLength(1);
        expect(told[0]).toContain('--import batchling/register');
        expect(told[0]).toContain('fetch: scope.fetch');
      },
      'no',
      note,
    ),
  );
});

const told: string[] = [];
for (const column of ['timeout', 'abort', 'stream', 'errors'] as const) {
  results.note(column, 'n.a.');
}
