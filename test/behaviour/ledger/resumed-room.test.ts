import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type BatchifyOptions, type BatchingContext, batchify } from '../../../src/index.ts';
import { openSqliteLedger } from '../../../src/ledger/sqlite/connection/open-sqlite.ts';
import { ask, chatRequest } from '../../support/ask.ts';
import { startAsker } from '../../support/processes/asker.ts';
import { fastClock } from '../../support/programs/parts/fast-clock.ts';
import { chatUrl } from '../../support/source-of.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { soon, until } from '../../support/until.ts';

let stage: Stage;

beforeEach(async () => {
  stage = await openStage();
});

afterEach(() => stage.close());

/** A run that is killed when this has come about; what it left is in the ledger. */
async function leave(prompts: readonly string[], options: BatchifyOptions, when: () => boolean) {
  const asker = await startAsker({
    sdk: 'openai',
    prompts,
    baseURL: stage.simulator.baseUrl('openai'),
    apiKey: 'sk-test-key',
    options,
  });
  await until(when, 'what the run is to leave');
  asker.send('SIGKILL');
  await asker.ended;
  const ledger = await openSqliteLedger({ path: options.store as string });
  await expect.poll(() => ledger.claimable()).toHaveLength(1);
  await ledger.close();
}

/** What batches of this scope go through, as `what token`, in order. */
function historyOf(scope: BatchingContext): string[] {
  const history: string[] = [];
  for (const name of ['batch:submitting', 'batch:submitted', 'batch:polled'] as const) {
    scope.on(name, ({ batch }) => history.push(`${name.slice(6)} ${batch}`));
  }
  scope.on('batch:collected', ({ batch }) => history.push(`collected ${batch}`));
  return history;
}

function countOf(history: readonly string[], what: string): number {
  return history.filter((entry) => entry.startsWith(`${what} `)).length;
}

/** Leaves a batch that was uploaded and never created. */
async function stageOnly(options: BatchifyOptions): Promise<void> {
  const full = stage.simulator.faults.add({
    method: 'POST',
    path: '/v1/batches',
    times: 1_000,
    action: { kind: 'status', status: 429, headers: { 'retry-after': '3600' } },
  });
  await leave(['staged'], options, () => full.hits > 0);
  full.remove();
}

/** The killed run may leave a create without an outcome, which is looked for during fifteen seconds. */
function hurried(options: BatchifyOptions): BatchifyOptions {
  const clock = fastClock({ epoch: Date.now(), speed: 50 });
  return { ...options, clock, window: '1s', poll: '1s' };
}

describe('a batch that was taken over from an earlier run', () => {
  it('takes up its room: what does not fit beside it waits for its end', async () => {
    const { simulator } = stage;
    const options = stage.options();
    const old = ['one', 'two', 'three', 'four'];
    simulator.hold();
    // A poll says that the ledger knows the batch as accepted.
    await leave(old, options, () => simulator.countRequests('GET', /^\/v1\/batches/) > 0);
    const ledger = await openSqliteLedger({ path: options.store as string });
    // Each of these requests counts as five: the four of them fit, and no fifth.
    await ledger.learn(1, `gpt-test at ${simulator.baseUrl('openai')}`, {
      tokens: 24,
      named: true,
    });
    await ledger.close();

    const scope = batchify(options);
    const history = historyOf(scope);
    const client = stage.openai();
    const askAll = (prompts: readonly string[]) =>
      scope.run(() => Promise.all(prompts.map((prompt) => ask(client, prompt))));
    const again = askAll(old);
    await until(() => countOf(history, 'polled') > 0, 'the batch of the earlier run');
    const others = askAll(['five', 'six']);
    await new Promise<void>((resolve) => scope.on('queue:flushed', () => resolve()));
    const polls = countOf(history, 'polled');
    await until(() => countOf(history, 'polled') > polls + 5, 'more polls');
    expect(countOf(history, 'submitting')).toBe(0);
    simulator.release();
    const answers = await soon(Promise.all([again, others]));
    expect(answers.flat()).toEqual(
      [...old, 'five', 'six'].map((prompt) => expect.stringContaining(`"${prompt}"`)),
    );
    await scope.close();
    const collected = history.findIndex((entry) => entry.startsWith('collected '));
    expect(collected).toBeLessThan(history.findIndex((entry) => entry.startsWith('submitting ')));
    expect(simulator.meter.total).toBe(6);
  });

  it('and was not created yet waits for a slot before it is', async () => {
    const { simulator } = stage;
    const options = stage.options({ maxInFlight: 1 });
    await stageOnly(options);

    simulator.hold();
    const quick = hurried(options);
    const [first, second] = [batchify(quick), batchify(quick)];
    const [before, after] = [historyOf(first), historyOf(second)];
    const client = stage.openai();
    const other = first.run(() => ask(client, 'under way'));
    await until(() => countOf(before, 'submitted') === 1, 'the first batch');
    const staged = second.run(() => ask(client, 'staged'));
    await until(() => second.stats.captured === 1, 'the second call');
    const polls = countOf(before, 'polled');
    await until(() => countOf(before, 'polled') > polls + 20, 'more polls');
    expect(simulator.batches()).toHaveLength(1);
    simulator.release();
    expect(await soon(other)).toContain('"under way"');
    expect(await soon(staged)).toContain('"staged"');
    await Promise.all([first.close(), second.close()]);
    expect(countOf(after, 'submitted')).toBe(1);
    // What was uploaded once was not uploaded again.
    expect(simulator.countRequests('POST', '/v1/files')).toBe(2);
    expect(simulator.meter.total).toBe(2);
  });

  it.each(['error', 'realtime'] as const)(
    'and waits for a slot at its deadline is told then (%s)',
    async (onDeadline) => {
      const { simulator } = stage;
      const options = stage.options({ maxInFlight: 1 });
      await stageOnly(options);

      simulator.hold();
      const quick = hurried(options);
      const first = batchify(quick);
      const other = first.run(() => ask(stage.openai(), 'under way'));
      await until(() => first.stats.batches.submitted === 1, 'the first batch');
      const second = batchify({ ...quick, deadline: '30s', onDeadline });
      const staged = second.run(() => fetch(chatUrl(stage), chatRequest('staged')));
      // Nothing was released: who is told now has not waited for the other batch.
      expect((await soon(staged)).status).toBe(onDeadline === 'error' ? 504 : 200);
      simulator.release();
      await soon(other);
      await Promise.all([first.close(), second.close()]);
    },
  );
});
