import { afterAll, beforeAll, expect, it } from 'vitest';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { startServer, type TestServer } from '../../src/ledger/postgres/test/server.test-helper.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { mapBench, openaiLine } from './map-bench.ts';

let server: TestServer;
let stage: Stage;
beforeAll(async () => {
  [server, stage] = await Promise.all([startServer(), openStage()]);
});
afterAll(async () => {
  await stage.close();
  await server.remove();
});

const count = 120;
const ids = Array.from({ length: count }, (_, index) => `c${index}`);
// Every third line is asked three times: samples that may fall into different shards.
const input = ids.map((id, index) => `${openaiLine(id, `p${index % 40}`)}\n`).join('');

it('four shards on one PostgreSQL ledger, killed and started again, pay for each line once', async () => {
  const bench = await mapBench(stage, { 'in.jsonl': input });
  const store = `${server.url}?schema=shards`;
  // A statement may last for half of a lease, which is not enough to make a schema.
  await (await openLedger(store)).close();
  const environment = { BATCHLING_STORE: `${store}&lease=1500ms` };
  const flags = (shard: number) => [
    ...['in.jsonl', '-o', `out-${shard}.jsonl`, '--shard', `${shard}/4`, '--batch-size', '7'],
  ];
  const shards = [1, 2, 3, 4];
  stage.simulator.hold();
  const running = await Promise.all(
    shards.map((shard) => bench.startWith({ environment }, ...flags(shard))),
  );
  await expect.poll(() => stage.simulator.batches().length).toBeGreaterThan(8);
  for (const { process } of running) process.kill('SIGKILL');
  await Promise.all(running.map(({ ended }) => ended));
  stage.simulator.release();
  const again = await Promise.all(
    shards.map((shard) => bench.with({ environment }, ...flags(shard))),
  );
  expect(again.map(({ code, stderr }) => ({ code, stderr }))).toEqual(
    shards.map(() => ({ code: 0, stderr: '' })),
  );
  const found = await Promise.all(shards.map((shard) => bench.lines(`out-${shard}.jsonl`)));
  expect(
    found
      .flat()
      .map(({ custom_id: id }) => id)
      .toSorted(),
  ).toEqual(ids.toSorted());
  expect(stage.simulator.meter.summary()).toMatchObject({ total: count, executedTwice: [] });
});
