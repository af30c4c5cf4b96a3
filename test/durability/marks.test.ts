import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { batchify } from '../../src/index.ts';
import { openSqliteLedger } from '../../src/ledger/sqlite/connection/open-sqlite.ts';
import { ask, askClaude } from '../support/ask.ts';
import { type HeldSyncs, holdSyncs } from '../support/held-syncs.ts';
import { OutstandingWork } from '../support/outstanding-work.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { until } from '../support/until.ts';

let stage: Stage;
let syncs: HeldSyncs;
let work: OutstandingWork;

beforeAll(async () => {
  stage = await openStage();
  // Everything is loaded before anybody looks whether something is under way.
  await batchify(
    () => Promise.all([ask(stage.openai(), 'warm up'), askClaude(stage.anthropic(), 'warm up')]),
    stage.options(),
  );
});
afterAll(() => stage.close());
beforeEach(async () => {
  stage.simulator.reset();
  syncs = await holdSyncs();
  work = new OutstandingWork();
});
afterEach(async () => {
  work.stop();
  await syncs.stop();
});

async function stateOf(store: string): Promise<string | undefined> {
  const ledger = await openSqliteLedger({ path: store });
  try {
    const [batch] = await ledger.list({});
    return batch?.state;
  } finally {
    await ledger.close();
  }
}

describe.each([
  ['openai', '/v1/batches', () => ask(stage.openai(), 'question')],
  ['anthropic', '/v1/messages/batches', () => askClaude(stage.anthropic(), 'question')],
] as const)('a batch of %s', (_, path, askOne) => {
  const creates = () => stage.simulator.countRequests('POST', path);

  it('is created when its mark is on the disk, and counts as accepted when that is', async () => {
    const store = stage.newStore();
    const scope = batchify(stage.options({ store }));
    const submitted: string[] = [];
    scope.on('batch:submitted', ({ batch }) => submitted.push(batch));
    const asked = scope.run(askOne);
    await until(() => syncs.held + creates() > 0, 'the mark or the create');
    await work.done();
    expect(creates()).toBe(0);
    expect(syncs.held).toBe(1);
    expect(await stateOf(store)).toBe('creating');

    await syncs.letGo();
    await work.done();
    expect(creates()).toBe(1);
    expect(syncs.held).toBe(1);
    expect(submitted).toEqual([]);
    expect(await stateOf(store)).toBe('accepted');

    await syncs.stop();
    expect(await asked).toContain('answer to "question"');
    await scope.close();
    expect(submitted).toHaveLength(1);
    expect(stage.simulator.meter.total).toBe(1);
  });
});
