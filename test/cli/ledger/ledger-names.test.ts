import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { batchify } from '../../../src/index.ts';
import { loadDriver } from '../../../src/ledger/sqlite/connection/driver.ts';
import { runCommand } from '../../support/processes/run-ledger-command.ts';
import { openStage, type Stage } from '../../support/stage.ts';

/** Ends its line and forges another, paints, clears the screen by C1, and turns the text around. */
const hostile = 'gpt\n\u001b[31mbl_forged  done\u009b2J\u202e\r\u0085x';
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const control = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/;

let stage: Stage;
let store: string;
let remoteId: string;

beforeAll(async () => {
  stage = await openStage();
  store = stage.newStore();
  const google = stage.simulator.baseUrl('google');
  const hosts = { ...stage.hosts, [google]: 'google' } as const;
  const scope = batchify(stage.options({ store, hosts, hooks: false }));
  const post = (url: string, headers: Record<string, string>, body: object) =>
    scope.fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const messages = [{ role: 'user', content: '[[status 400]] \u009b31m' }];
  await post(
    `${stage.simulator.baseUrl('openai')}/chat/completions`,
    { authorization: 'Bearer sk-1' },
    { model: 'gpt-5-mini', messages },
  );
  await post(
    `${google}/v1beta/models/gemini-2.5-flash:generateContent`,
    { 'x-goog-api-key': 'g-1' },
    { contents: [{ role: 'user', parts: [{ text: 'hello' }] }] },
  );
  await scope.close();
  // A call with such a name is refused today, but a ledger may hold one of a provider or of an older version.
  const { DatabaseSync } = await loadDriver();
  const database = new DatabaseSync(store, { timeout: 5_000 });
  database.prepare("UPDATE queue SET model = ? WHERE provider = 'openai'").run(hostile);
  database.close();
  const { stdout } = await runCommand(['ls', '--json', '--store', store]);
  const batches = JSON.parse(stdout).batches as { provider: string; remoteId: string }[];
  remoteId = batches.find(({ provider }) => provider === 'google')?.remoteId as string;
});
afterAll(() => stage.close());

const command = (...given: string[]) => runCommand([...given, '--store', store]);

describe('names from outside', () => {
  it.each([['ls'], ['ls', '--json'], ['show'], ['show', '--json']])(
    'do not control the terminal: %s %s',
    async (name, ...flags) => {
      const { batches } = JSON.parse((await command('ls', '--json')).stdout);
      const { id } = batches.find(({ provider }: { provider: string }) => provider === 'openai');
      const { code, stdout } = await command(
        name as string,
        ...(name === 'show' ? [id] : []),
        ...flags,
      );
      expect(code).toBe(0);
      expect(stdout).toContain('bl_forged');
      expect(stdout).not.toMatch(control);
      expect(stdout.split('\n').filter((line) => /^\W*bl_forged/.test(line))).toEqual([]);
      if (flags.length > 0) expect(JSON.stringify(JSON.parse(stdout))).toContain('\u009b2J');
    },
  );
});

it('show takes the id of a batch as its provider writes it', async () => {
  for (const given of [remoteId, `batches/${remoteId}`]) {
    const { code, stdout } = await command('show', given);
    expect(code).toBe(0);
    expect(stdout).toContain(remoteId);
  }
  expect((await command('show', 'batches/none')).code).toBe(1);
});
