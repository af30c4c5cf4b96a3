import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { batchify } from '../../../src/index.ts';
import { BATCH } from '../../../src/ledger/sql/codes.ts';
import { loadDriver } from '../../../src/ledger/sqlite/connection/driver.ts';
import { ask } from '../../support/ask.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { soon, until } from '../../support/until.ts';

let stage: Stage;

beforeEach(async () => {
  stage = await openStage();
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await stage.close();
});

async function execute(store: string, sql: string): Promise<void> {
  const { DatabaseSync } = await loadDriver();
  const database = new DatabaseSync(store, { timeout: 5_000 });
  database.exec(sql);
  database.close();
}

const prompts = ['bad [[invalid]]', 'good', 'fine'];
const itsReason = { status: 'rejected', reason: { status: 400, code: 'invalid_request' } };
const storeTrouble = { status: 'rejected', reason: { status: 500, type: 'batchling_store' } };
const answered = { status: 'fulfilled' };

describe('a ledger that fails while bad lines are taken out of a batch', () => {
  it.each([
    [
      'when the end of the batch is noted',
      `UPDATE ON batch WHEN NEW.state >= ${BATCH.ended}`,
      storeTrouble,
      storeTrouble,
    ],
    ['when the reasons of the bad lines are stored', 'INSERT ON answer', itsReason, answered],
    ['when the next batch is planned', 'INSERT ON batch', storeTrouble, storeTrouble],
  ])('%s', async (_when, event, bad, others) => {
    const { simulator } = stage;
    const options = stage.options();
    const store = options.store as string;
    const client = stage.openai({ maxRetries: 0 });
    const askAll = () => Promise.allSettled(prompts.map((prompt) => ask(client, prompt)));
    vi.stubEnv('BATCHLING_RUN', 'first');
    // Nothing is known of the batch before the ledger is bad.
    const action = { kind: 'status', status: 500 } as const;
    const blind = simulator.faults.add({ path: /batches\/[^/]+$/, times: 1e9, action });
    const scope = batchify(options);
    const asked = scope.run(askAll);
    await until(() => scope.stats.batches.submitted === 1, 'the batch');
    await execute(
      store,
      `CREATE TRIGGER bad BEFORE ${event} BEGIN SELECT RAISE(ABORT, 'the disk is bad'); END`,
    );
    blind.remove();
    expect(await soon(asked)).toMatchObject([bad, others, others]);
    await soon(scope.close());

    await execute(store, 'DROP TRIGGER bad');
    vi.stubEnv('BATCHLING_RUN', 'again');
    expect(await soon(batchify(askAll, options))).toMatchObject([itsReason, answered, answered]);
    expect(simulator.meter.executedTwice()).toEqual([]);
  });
});
