import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { batchify, type Clock } from '../../../src/index.ts';
import { ask } from '../../support/ask.ts';
import { runCommand } from '../../support/processes/run-ledger-command.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

const hour = 3_600_000;
/** The clock of a program that ran three hours ago. */
const threeHoursAgo: Clock = {
  now: () => Date.now() - 3 * hour,
  setTimeout: (callback, delay) => setTimeout(callback, delay),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
};

let stage: Stage;
let store: string;
/** The program that waits for the last batch leaves. */
let leave: () => Promise<void>;

/** Three batches that ended at once, and one that its program still waits for. */
beforeAll(async () => {
  stage = await openStage();
  store = stage.newStore();
  const openai = stage.openai({ maxRetries: 0 });
  const options = stage.options({ store, clock: threeHoursAgo });
  await batchify(async () => {
    for (const prompt of ['one', 'two', 'three']) await ask(openai, prompt);
  }, options);
  stage.simulator.hold();
  const leaving = new AbortController();
  const scope = batchify({ ...options, signal: leaving.signal });
  let isPolled = false;
  scope.on('batch:polled', () => {
    isPolled = true;
  });
  const late = scope.run(() => ask(openai, 'late')).catch(() => undefined);
  leave = async () => {
    leaving.abort();
    await late;
    await scope.close();
  };
  await until(() => isPolled, 'a look at the fourth batch');
});
afterAll(async () => {
  await leave();
  await stage.close();
});

function command(...given: string[]) {
  const environment = { OPENAI_API_KEY: 'sk-test-key', BATCHLING_POLL: '10ms' };
  return runCommand([...given, '--store', store], environment);
}

async function json(...given: string[]) {
  return JSON.parse((await command(...given, '--json')).stdout);
}

describe('a batch that is slow', () => {
  const reason = /is slow; under way for 3h( \d+m)?, 9 of 10 batches of its size took at most \d/;

  it('is called so by ls', async () => {
    const { stdout } = await command('ls');
    const states = stdout.split('\n').slice(1, 5);
    for (const line of states.slice(0, 3)) expect(line).toMatch(/^bl_\w{16} {2}done /);
    expect(states[3]).toMatch(/^bl_\w{16} {2}slow +openai /);
    const { batches } = await json('ls');
    expect(batches.map(({ slow }: { slow?: object }) => slow)).toMatchObject([
      ...[undefined, undefined, undefined],
      { kind: 'slow', age: expect.any(Number), usual: expect.any(Number) },
    ]);
    expect(batches[3]).toMatchObject({ words: 'slow', state: 'accepted' });
  });

  it('is explained by show', async () => {
    const { batches } = await json('ls', '--open');
    const { stdout } = await command('show', batches[0].id);
    expect(stdout).toMatch(/^ {2}state +slow \(the provider says: \w+\)$/m);
    expect(stdout).toMatch(/^ {2}slow +it is slow; /m);
    expect(stdout).toMatch(reason);
    expect(await json('show', batches[0].id)).toMatchObject({ slow: { kind: 'slow' } });
  });

  it('is not called so once nobody asks about it: it may have ended since', async () => {
    await leave();
    const { batches } = await json('ls');
    expect(batches[3]).toMatchObject({ words: 'under way', state: 'accepted' });
    expect(batches[3]).not.toHaveProperty('slow');
    const { stdout } = await command('show', batches[3].id);
    expect(stdout).toMatch(/^ {2}state +under way \(the provider says: \w+\)$/m);
    expect(stdout).toContain('no process');
  });

  it('is told of by collect, which goes on with it', async () => {
    const { code, stderr } = await command('collect');
    expect(code).toBe(75);
    expect(stderr).toMatch(reason);
    stage.simulator.release();
    const { stdout, code: done } = await command('collect', '--watch');
    expect(stdout).toContain('1 of 1 request answered');
    expect(done).toBe(0);
  });
});
