import { readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { OpenAIBatcher, openaiInfo } from '../../../src/batchers/index.ts';
import { type BatchlingEventName, batchify } from '../../../src/index.ts';
import { ask } from '../../support/ask.ts';
import { runProgram } from '../../support/processes/run-program.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

/** Every byte of every file around the ledger, and their names. */
async function filesAround(store: string): Promise<Map<string, Buffer>> {
  const folder = dirname(store);
  const names = await readdir(folder, { recursive: true });
  const files = new Map<string, Buffer>();
  for (const name of names) {
    const path = join(folder, name);
    if ((await stat(path)).isFile()) files.set(name, await readFile(path));
  }
  return files;
}

const names: BatchlingEventName[] = [
  'call:captured',
  'call:answered',
  'call:bypassed',
  'queue:flushed',
  'batch:submitting',
  'batch:step',
  'batch:submitted',
  'batch:polled',
  'batch:ended',
  'batch:collected',
  'batch:resent',
  'request:retried',
];

describe('a key', () => {
  it('is in no file of the ledger, neither while calls wait nor afterwards', async () => {
    const key = 'sk-secret-8f2a61c0d7';
    const { simulator } = stage;
    const store = stage.newStore();
    simulator.hold();
    const scope = batchify(stage.options({ store, keep: 'all', name: 'run', tags: { a: 'b' } }));
    const asked = scope.run(() =>
      Promise.all(['one', 'two'].map((prompt) => ask(stage.openai({ apiKey: key }), prompt))),
    );
    await until(() => scope.stats.batches.submitted === 1, 'the batch');
    const waiting = await filesAround(store);
    simulator.release();
    await asked;
    await scope.close();
    const finished = await filesAround(store);

    for (const files of [waiting, finished]) {
      expect([...files.keys()]).toContain('ledger.db');
      expect(Buffer.concat([...files.values()]).includes('gpt-test')).toBe(true);
      for (const [name, bytes] of files) {
        expect(name).not.toContain(key);
        expect(bytes.includes(key), `the key is in ${name}`).toBe(false);
        expect(bytes.includes(Buffer.from(key).toString('base64')), name).toBe(false);
        expect(bytes.includes(Buffer.from(key, 'utf16le')), name).toBe(false);
      }
    }
  });

  it.each([
    ['an item that is refused', '[[status 401]]', 401],
    ['an item that fails in every attempt', '[[status 500]]', 500],
  ])('is in no file although the provider echoes it in %s', async (_what, prompt, status) => {
    const key = 'sk-secret-51b0c7e9aa';
    const store = stage.newStore();
    class EchoingBatcher extends OpenAIBatcher {
      override readonly info = { ...openaiInfo, name: 'echoing', hosts: [] };
      protected override readLine(line: string) {
        return super.readLine(line.replace('simulated status', `Wrong key ${key},`));
      }
    }
    const options = stage.options({
      store,
      keep: 'all',
      batchers: [EchoingBatcher],
      hosts: { [stage.simulator.baseUrl('openai')]: 'echoing' },
    });
    const client = stage.openai({ apiKey: key });
    const failure = await batchify(() => ask(client, prompt).catch((error) => error), options);
    const message = expect.stringContaining(`Wrong key [redacted], ${status}`);
    expect(failure).toMatchObject({ status, message });
    const files = await filesAround(store);
    expect([...files.values()].some((bytes) => bytes.includes('Wrong key'))).toBe(true);
    for (const [name, bytes] of files) expect(bytes.includes(key), name).toBe(false);
  });

  it.each([
    ['upload', '/v1/files', 400],
    ['create', '/v1/batches', 400],
    ['create', '/v1/batches', 401],
  ])(
    'is neither in an answer nor in a file although it is echoed by a refused %s (%s, %i)',
    async (_what, path, status) => {
      const key = 'sk-secret-c20de814b7';
      const store = stage.newStore();
      const error = { message: `Wrong key ${key}!`, type: 'invalid_request_error', code: key };
      stage.simulator.faults.add({
        ...{ method: 'POST', path, times: 100 },
        action: { kind: 'status', status, body: { error } },
      });
      const client = stage.openai({ apiKey: key });
      const failure = await batchify(
        () => ask(client, 'refused').catch((thrown) => thrown),
        stage.options({ store, keep: 'all' }),
      );
      expect(failure).toMatchObject({ status, message: expect.stringContaining('[redacted]!') });
      expect(JSON.stringify(failure)).not.toContain(key);
      const files = await filesAround(store);
      expect([...files.values()].some((bytes) => bytes.includes('Wrong key'))).toBe(true);
      for (const [name, bytes] of files) expect(bytes.includes(key), name).toBe(false);
    },
  );

  it('is in no event, log line, error or output of a program', async () => {
    const openaiKey = 'sk-secret-openai-77aa';
    const anthropicKey = 'sk-secret-anthropic-88bb';
    const { simulator } = stage;
    const { code, stdout, stderr } = await runProgram(
      'leak',
      {
        names,
        openaiBase: simulator.baseUrl('openai'),
        anthropicBase: simulator.baseUrl('anthropic'),
        // Of each provider all in one batch, whatever the machine does: the faults depend on it.
        options: stage.options({ attempts: 2, window: '1s' }),
      },
      {
        OPENAI_API_KEY: openaiKey,
        ANTHROPIC_API_KEY: anthropicKey,
        BATCHLING_DISPLAY: 'plain',
        NODE_DEBUG: 'batchling',
      },
    );
    expect(code, stderr).toBe(0);
    // It has told all it had to tell.
    for (const name of names) {
      if (name === 'batch:resent') continue;
      expect(stdout).toContain(`scope ${name}`);
      expect(stdout).toContain(`channel ${name}`);
    }
    expect(stdout).toContain('simulated status 400');
    expect(stdout).toContain('Incorrect API key provided');
    expect(stdout).toContain('invalid x-api-key');
    for (const key of [openaiKey, anthropicKey]) {
      expect(stdout).not.toContain(key);
      expect(stderr).not.toContain(key);
    }
  });
});

it('the files of a ledger can be read by their owner only, whatever the umask', async () => {
  const store = stage.newStore();
  const umask = process.umask(0);
  const expectPrivate = async () => {
    const names = [...(await filesAround(store)).keys()];
    for (const name of names) {
      const { mode } = await stat(join(dirname(store), name));
      expect(mode & 0o077, `${name} has mode ${mode.toString(8)}`).toBe(0);
    }
    return names.length;
  };
  try {
    stage.simulator.hold();
    const scope = batchify(stage.options({ store }));
    const asked = scope.run(() => ask(stage.openai(), 'hello'));
    await until(() => scope.stats.batches.submitted === 1, 'the batch');
    // The ledger, its log and its index, and the lock of its owner.
    expect(await expectPrivate()).toBeGreaterThanOrEqual(4);
    stage.simulator.release();
    await asked;
    await scope.close();
    expect(await expectPrivate()).toBeGreaterThanOrEqual(1);
  } finally {
    process.umask(umask);
  }
});
