import { createServer } from 'node:http';
import OpenAI from 'openai';
import { expect, it, onTestFinished } from 'vitest';
import { batchify } from '../../../src/index.ts';
import { ask } from '../../support/ask.ts';
import { fastClock } from '../../support/programs/parts/fast-clock.ts';
import { reservePort } from '../../support/servers/reserved-port.ts';
import { soon, until } from '../../support/until.ts';

const completion = { choices: [{ index: 0, message: { role: 'assistant', content: 'moo' } }] };

/** A server with one answer, at this port. */
async function listen(port: number) {
  const server = createServer((request, response) => {
    request.resume();
    response.end(JSON.stringify(completion));
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  onTestFinished(() => void server.close().closeAllConnections());
}

it('a call to a server that is away is sent when it is there again, and people are told which of both it is', async () => {
  const clock = fastClock({ epoch: Date.now(), speed: 60 });
  const { port, release } = await reservePort();
  onTestFinished(release);
  const host = `127.0.0.1:${port}`;
  const client = new OpenAI({ apiKey: 'k', baseURL: `http://${host}/v1`, maxRetries: 0 });
  const said: string[] = [];
  const note = (text: string) => void said.push(text);
  const logger = { debug() {}, info: note, warn: note, error: note };
  const hosts = { [host]: 'openai' } as const;
  const options = { lane: 'realtime', clock, logger, hosts, store: ':memory:' } as const;
  const asked = batchify(() => ask(client, 'cat'), options);
  await until(() => said.length > 0, 'people to be told');
  const since = clock.now();
  // Pauses are so long by then that people would be told of a model that is full.
  await until(() => clock.now() > since + 80_000, 'more than a minute to pass');
  await listen(port);
  expect(await soon(asked)).toBe('moo');
  expect(said).toEqual([
    expect.stringMatching(
      /cannot reach 127\.0\.0\.1:\d+ \(ECONNREFUSED\); trying again for up to 15m/,
    ),
    expect.stringMatching(/127\.0\.0\.1:\d+ can be reached again, after/),
  ]);
});
