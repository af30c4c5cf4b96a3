import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type BatchifyOptions, batchify } from '../../../src/index.ts';
import { openSqliteLedger } from '../../../src/ledger/sqlite/connection/open-sqlite.ts';
import { ask } from '../../support/ask.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

/** One call of each scope, all in one batch; returns the store. */
async function shareBatch(scopes: readonly BatchifyOptions[]): Promise<string> {
  const store = stage.newStore();
  const patient = { store, window: '1h', maxWindow: '1h', batchSize: scopes.length } as const;
  const opened = scopes.map((given) => batchify(stage.options({ ...patient, ...given })));
  const client = stage.openai();
  const asked: Promise<unknown>[] = [];
  for (const [index, scope] of opened.entries()) {
    asked.push(scope.run(() => ask(client, `call ${index}`)));
    // Which of them is the first must not be a matter of luck.
    await until(() => scope.stats.captured > 0, `call ${index}`);
  }
  await Promise.all(asked);
  for (const scope of opened) await scope.close();
  expect(stage.simulator.batches()).toHaveLength(1);
  return store;
}

async function labels(store: string) {
  const { data } = await stage.openai().batches.list();
  const { batchling: _, ...metadata } = data[0]?.metadata ?? {};
  const ledger = await openSqliteLedger({ path: store });
  const [batch] = await ledger.list();
  await ledger.close();
  return { metadata, name: batch?.name, tags: batch?.tags };
}

const deletions = () => stage.simulator.countRequests('DELETE', /^\/v1\/files\//);

describe('a batch of several scopes', () => {
  it('is called what all of them call it; the first wins where they differ', async () => {
    const store = await shareBatch([
      { tags: { team: 'red', one: '1' } },
      { name: 'second', tags: { team: 'blue', two: '2' } },
      { name: 'third' },
    ]);
    const tags = { team: 'red', one: '1', two: '2' };
    expect(await labels(store)).toEqual({
      metadata: { ...tags, name: 'second' },
      name: 'second',
      tags,
    });
  });

  it('counts for each of them by its own calls', async () => {
    const store = await shareBatch([
      { name: 'titles', tags: { team: 'red' } },
      { name: 'summaries', tags: { team: 'blue' } },
      {},
    ]);
    const ledger = await openSqliteLedger({ path: store });
    const names = await ledger.costs({ by: ['name'] });
    const tags = await ledger.costs({ by: ['tag'] });
    await ledger.close();
    expect(names.map(({ name, calls }) => [name, calls]).sort()).toEqual([
      [undefined, 1],
      ['summaries', 1],
      ['titles', 1],
    ]);
    expect(tags.map(({ tag, calls }) => [tag, calls]).sort()).toEqual([
      [undefined, 1],
      ['team=blue', 1],
      ['team=red', 1],
    ]);
  });

  it('has no more tags than a provider takes', async () => {
    const many = (letter: string) =>
      Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`${letter}${n}`, 'x']));
    const store = await shareBatch([{ tags: many('a') }, { name: 'both', tags: many('b') }]);
    expect(await labels(store)).toMatchObject({ tags: many('a'), name: 'both' });
  });

  it.each([
    [[false, true], 0],
    [[true, false], 0],
    [[true, true], 1],
  ])('keeps its files if one of them wants that: cleanup %j', async (wishes, deleted) => {
    await shareBatch(wishes.map((cleanup) => ({ cleanup })));
    expect(deletions()).toBe(deleted);
  });

  it('waits for a slot as the most careful of them wants', async () => {
    const { simulator } = stage;
    const patient = {
      store: stage.newStore(),
      window: '1h',
      maxWindow: '1h',
      batchSize: 2,
    } as const;
    const free = batchify(stage.options(patient));
    const careful = batchify(stage.options({ ...patient, maxInFlight: 1 }));
    const client = stage.openai();
    simulator.hold();
    const first = free.run(() => Promise.all([ask(client, 'a'), ask(client, 'b')]));
    await expect.poll(() => free.stats.batches.submitted).toBe(1);
    const second = [free.run(() => ask(client, 'c')), careful.run(() => ask(client, 'd'))];
    await expect.poll(() => free.stats.captured + careful.stats.captured).toBe(4);
    // One that may share with more others does not wait behind it.
    const third = free.run(() => Promise.all([ask(client, 'e'), ask(client, 'f')]));
    await expect.poll(() => free.stats.batches.submitted).toBe(2);
    expect(careful.stats.batches.submitted).toBe(0);
    simulator.release();
    await Promise.all([first, ...second, third]);
    await Promise.all([free.close(), careful.close()]);
    expect(simulator.batches()).toHaveLength(3);
  });
});
