import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { compiledProgram } from '../../support/processes/compiled.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';
import { type Ended, type Launch, type Launched, launch, launchProgram } from './launched.ts';

let stage: Stage;
let store: string;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => {
  stage.simulator.reset();
  store = stage.newStore();
});

const detach = { BATCHLING_DETACH: 'true' };

function start(given: Partial<Launch> = {}): Promise<Launched> {
  return launch(stage, { store, ...given, environment: { ...detach, ...given.environment } });
}

async function run(given: Partial<Launch> = {}): Promise<Ended> {
  return (await start(given)).ended;
}

/** It goes on polling although it had the time to leave. */
async function isPolled(): Promise<void> {
  const { simulator } = stage;
  const before = simulator.countRequests('GET', /\/batches/);
  await until(() => simulator.countRequests('GET', /\/batches/) > before + 15, 'polls');
}

/** The batch ends at the provider. */
async function endBatch(): Promise<void> {
  stage.simulator.release();
  await until(() => stage.simulator.batches()[0]?.ending === 'completed', 'the end of the batch');
}

it('leaves batches to later runs, of which each continues until all is answered', async () => {
  const { simulator } = stage;
  simulator.hold();
  const given = { client: 'openai', isTopLevel: true } as const;
  for (const _ of ['sends', 'finds it under way']) {
    const { code, lines, stderr } = await run(given);
    expect({ code, lines }).toEqual({ code: 75, lines: ['asking'] });
    expect(stderr).toContain('detached: 2 calls wait in 1 batch at the provider');
    expect(stderr).toContain(`batchling collect --store ${store}`);
    expect(stderr).not.toContain('top-level await');
  }
  await endBatch();
  // Answers from the provider, then from the ledger.
  for (const _ of ['provider', 'ledger']) {
    const { code, lines, stderr } = await run(given);
    expect({ code, lines: lines.length }).toEqual({ code: 3, lines: 3 });
    expect(stderr).not.toContain('detached');
  }
  expect(simulator.batches()).toHaveLength(1);
  expect(simulator.meter).toMatchObject({ batched: 2, realtime: 0 });
});

it('does so without top-level await, where requests travel in the create', async () => {
  stage.simulator.hold();
  expect(await run({ client: 'anthropic' })).toMatchObject({ code: 75, lines: ['asking'] });
  await endBatch();
  const { code, lines } = await run({ client: 'anthropic' });
  expect({ code, lines: lines.length }).toEqual({ code: 3, lines: 3 });
  expect(stage.simulator.batches()).toHaveLength(1);
  expect(stage.simulator.meter).toMatchObject({ batched: 2, realtime: 0 });
});

it('stays while the program is busy, and hands out the answers', async () => {
  const { simulator } = stage;
  simulator.hold();
  const program = await start({ also: ['stayBusy'] });
  await isPolled();
  simulator.release();
  await program.printed('answer to "b"');
  program.type('done\n');
  expect(await program.ended).toMatchObject({ code: 3 });
});

it('stays for a timer of the program that was set along with a call', async () => {
  stage.simulator.hold();
  const { code, lines } = await run({ client: 'withOwnTimer', prompts: ['a'] });
  expect({ code, lines }).toEqual({ code: 75, lines: ['asking', 'saved'] });
});

it('stays until a call is sent that waits for room', async () => {
  const { simulator } = stage;
  simulator.hold();
  const environment = { BATCHLING_BATCH_SIZE: '1', BATCHLING_MAX_IN_FLIGHT: '1' };
  const program = await start({ environment });
  await isPolled();
  simulator.release();
  // The second one may be left to the next run: it is sent.
  await program.ended;
  expect(simulator.batches()).toHaveLength(2);
});

it('stays until it is known what became of a create', async () => {
  const { simulator } = stage;
  simulator.hold();
  simulator.faults.add({ method: 'POST', path: '/v1/batches', action: { kind: 'lost' } });
  const { code, stderr } = await run();
  expect(code).toBe(75);
  expect(stderr).toContain('2 calls wait in 1 batch');
  expect(simulator.batches()).toHaveLength(1);
});

it('stays with a store in memory, which would be lost', async () => {
  const { simulator } = stage;
  simulator.hold();
  const program = await start({ environment: { BATCHLING_STORE: ':memory:' } });
  await isPolled();
  simulator.release();
  expect(await program.ended).toMatchObject({ code: 3 });
});

it('lets listeners of the program for its end do their work, and sends what they ask', async () => {
  const { simulator } = stage;
  simulator.hold();
  const asking = await run({ also: ['askAtTheEnd'] });
  expect(asking).toMatchObject({ code: 75, lines: ['asking'] });
  expect(asking.stderr).toContain('3 calls wait in 2 batches');

  const working = await start({ also: ['workAtTheEnd'] });
  await working.printed('at work');
  await isPolled();
  working.type('done\n');
  expect(await working.ended).toMatchObject({
    code: 75,
    lines: ['asking', 'at work', 'still here'],
  });
});

it('is continued with cache: false, without paying for its first answers again', async () => {
  const { simulator } = stage;
  const never = new Promise<never>(() => undefined);
  simulator.configure({ answer: ({ prompt }) => (prompt === 'b' ? never : `re: ${prompt}`) });
  const form = 'one after another';
  const environment = { BATCHLING_CACHE: 'false' };
  const program = await start({ form, environment, also: ['stayBusy'] });
  await until(() => simulator.batches().length === 2, 'the second batch');
  program.type('done\n');
  expect(await program.ended).toMatchObject({
    code: 75,
    lines: ['asking', 're: a', 'still here'],
  });
  expect(await run({ form, environment })).toMatchObject({ code: 75, lines: ['asking', 're: a'] });
  expect(simulator.batches()).toHaveLength(2);
});

it('leaves from a scope of the program, too', async () => {
  const { simulator } = stage;
  simulator.hold();
  const url = `${simulator.baseUrl('openai')}/chat/completions`;
  const parameters = [await compiledProgram('launched/nested-scope'), url, stage.newStore()];
  const environment = { ...detach, BATCHLING_STORE: store };
  const first = await (await launchProgram(stage, parameters, environment)).ended;
  expect(first.code).toBe(75);
  expect(first.stderr).toContain('2 calls wait in 1 batch');
  simulator.release();
  await until(() => simulator.batches()[0]?.ending === 'completed', 'the end of the batch');
  const last = await (await launchProgram(stage, parameters, environment)).ended;
  expect(last).toMatchObject({ code: 0, lines: ['batch', 'batch'] });
  expect(simulator.meter.total).toBe(2);
});

it('leaves in each worker thread by itself', async () => {
  const { simulator } = stage;
  simulator.hold();
  const program = new URL('../../support/programs/launched/registered.mjs', import.meta.url);
  const url = `${simulator.baseUrl('openai')}/chat/completions`;
  const parameters = [fileURLToPath(program), url, '2', 'worker'];
  const environment = { ...detach, BATCHLING_STORE: store };
  const first = await (await launchProgram(stage, parameters, environment)).ended;
  expect(first).toMatchObject({ code: 75, lines: [] });
  expect(first.stderr.match(/detached: 2 calls wait/g)).toHaveLength(3);
  simulator.release();
  await until(() => simulator.batches().every(({ ending }) => ending === 'completed'), 'the end');
  const last = await (await launchProgram(stage, parameters, environment)).ended;
  expect(last.code).toBe(0);
  expect(new Set(last.lines).size).toBe(6);
  expect(simulator.meter.total).toBe(6);
});
