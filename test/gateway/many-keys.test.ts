import { statSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { query } from '../../src/ledger/sqlite/test/temporary.test-helper.ts';
import { runCli } from '../support/processes/run-cli.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { chatRequest, startGateway } from './start-gateway.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage({ answer: () => 'a long answer '.repeat(2_000) });
});
afterAll(() => stage.close());

it('what many keys have left in the ledger is gone after a prune, and the file is small at once', async () => {
  const store = stage.newStore();
  const gateway = await startGateway(stage, { store });
  const keys = Array.from({ length: 60 }, (_, index) => `sk-wrong-${index}`);
  const statuses = keys.map(async (key) => {
    const request = chatRequest('hello', { authorization: `Bearer ${key}` });
    const response = await fetch(`${gateway.url}/openai/v1/chat/completions`, request);
    await response.text();
    return response.status;
  });
  expect(new Set(await Promise.all(statuses))).toEqual(new Set([200]));
  await gateway.kill('SIGTERM');

  const rows = async (table: string) =>
    (await query(store, `SELECT count(*) AS n FROM ${table}`)) as [{ n: number }];
  expect(await rows('account')).toEqual([{ n: keys.length }]);
  const before = statSync(store).size;
  const { code } = await runCli(['prune', '--all', '--store', store]);
  expect(code).toBe(0);
  for (const table of ['request', 'batch', 'answer']) {
    expect(await rows(table), table).toEqual([{ n: 0 }]);
  }
  // SQLite would give the id of the newest row to the next one.
  for (const table of ['account', 'queue']) expect(await rows(table), table).toEqual([{ n: 1 }]);
  expect(statSync(store).size).toBeLessThan(before / 3);
});
