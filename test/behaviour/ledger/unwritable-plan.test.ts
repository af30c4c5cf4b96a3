import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { batchify } from '../../../src/index.ts';
import { loadDriver } from '../../../src/ledger/sqlite/connection/driver.ts';
import { ask } from '../../support/ask.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { soon } from '../../support/until.ts';

let stage: Stage;

beforeEach(async () => {
  stage = await openStage();
});
afterEach(() => stage.close());

async function execute(store: string, sql: string): Promise<void> {
  const { DatabaseSync } = await loadDriver();
  const database = new DatabaseSync(store, { timeout: 5_000 });
  database.exec(sql);
  database.close();
}

/** The disk is full for everything but new requests. */
const full = (event: string, name = 'full') =>
  `CREATE TRIGGER ${name} BEFORE ${event} BEGIN SELECT RAISE(ABORT, 'disk is full'); END`;

const storeTrouble = { status: 'rejected', reason: { status: 500, type: 'batchling_store' } };

describe('a ledger that can neither plan a batch nor store why', () => {
  it('gives its callers an error, and frees their slot', async () => {
    const options = stage.options({ maxInFlight: 1 });
    const client = stage.openai({ maxRetries: 0 });
    const scope = batchify(options);
    expect(await soon(scope.run(() => ask(client, 'before')))).toContain('answer to "before"');
    const store = options.store as string;
    await execute(store, `${full('INSERT ON batch')}; ${full('INSERT ON answer', 'mute')}`);
    const [first] = await soon(scope.run(() => Promise.allSettled([ask(client, 'during')])));
    expect(first).toMatchObject(storeTrouble);
    await execute(store, 'DROP TRIGGER full; DROP TRIGGER mute');
    // One slot, and it was given back.
    expect(await soon(scope.run(() => ask(client, 'after')))).toContain('answer to "after"');
    await soon(scope.close());
  });
});

describe('a ledger that cannot note that the program has ended', () => {
  it('tells the log, and the program ends well', async () => {
    const told: unknown[] = [];
    const warn = (...line: unknown[]) => void told.push(line);
    const logger = { debug: () => {}, info: () => {}, warn, error: warn };
    const options = stage.options({ logger });
    const scope = batchify(options);
    expect(await soon(scope.run(() => ask(stage.openai(), 'all')))).toContain('answer to "all"');
    await execute(options.store as string, full('UPDATE OF closed_at ON owner'));
    await soon(scope.close());
    const message = 'batchling could not note in the ledger that this owner has left';
    expect(told).toEqual([[message, { error: expect.stringContaining('disk is full') }]]);
  });
});
