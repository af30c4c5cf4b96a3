import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { compiledProgram } from '../../support/processes/compiled.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { soon, until } from '../../support/until.ts';
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

function start(given: Partial<Launch> = {}): Promise<Launched> {
  return launch(stage, { store, ...given });
}

/** Until the provider has the batch, and shows no end of it. */
async function startAndWait(given: Partial<Launch> = {}): Promise<Launched> {
  const { simulator } = stage;
  simulator.hold();
  const before = simulator.countRequests('GET', /\/batches/);
  const program = await start(given);
  await until(() => simulator.countRequests('GET', /\/batches/) > before, 'a poll');
  return program;
}

/** The next run gets all answers, of one batch. */
async function expectContinued(): Promise<void> {
  stage.simulator.release();
  const { code, lines } = await (await start()).ended;
  expect({ code, lines: lines.length }).toEqual({ code: 3, lines: 3 });
  expect(stage.simulator.batches()).toHaveLength(1);
  expect(stage.simulator.meter).toMatchObject({ batched: 2, realtime: 0 });
}

function expectInterrupted(ended: Ended): void {
  expect(ended).toMatchObject({ code: 130, signal: null });
  expect(ended.lines.filter((line) => line.startsWith('failed'))).toEqual([]);
}

const resumeNote = 'interrupted: 2 calls wait in 1 batch at the provider';

it('leaves batches to the next run on SIGINT', async () => {
  const program = await startAndWait({ isTopLevel: true });
  program.kill('SIGINT');
  const ended = await program.ended;
  expectInterrupted(ended);
  expect(ended.stderr).toContain(resumeNote);
  expect(ended.stderr).toContain('run the same command again');
  await expectContinued();
});

it('does so on SIGTERM, although the package signal-exit listens', async () => {
  const program = await startAndWait({ also: ['exitHook', 'stayBusy'] });
  program.kill('SIGTERM');
  const ended = await program.ended;
  expectInterrupted(ended);
  expect(ended.stderr).toContain(resumeNote);
  expect(ended.lines).toContain('hook 130');
});

it('ends a program that listens itself and only waits for its calls, whatever time its client gives', async () => {
  const program = await startAndWait({ also: ['ownInterrupt'], client: 'openai' });
  program.kill('SIGINT');
  expectInterrupted(await soon(program.ended));
});

it('does not send what waits in a queue', async () => {
  const program = await start({
    also: ['tellCaptured'],
    environment: { BATCHLING_WINDOW: '1h', BATCHLING_MAX_WINDOW: '1h' },
  });
  await program.printed('captured\ncaptured');
  program.kill('SIGINT');
  const ended = await program.ended;
  expectInterrupted(ended);
  expect(ended.stderr).toContain('interrupted: 2 calls not sent');
  expect(stage.simulator.requests).toHaveLength(0);
  await expectContinued();
});

it('records a create that is in flight', async () => {
  const { simulator } = stage;
  simulator.hold();
  const create = { method: 'POST', path: '/v1/batches' };
  simulator.faults.add({ ...create, action: { kind: 'delay', ms: 500 } });
  const program = await start();
  await until(() => simulator.countRequests('POST', '/v1/batches') === 1, 'the create');
  program.kill('SIGINT');
  const ended = await program.ended;
  expectInterrupted(ended);
  expect(ended.stderr).toContain(resumeNote);
  await expectContinued();
});

it('cuts ordinary calls off, and the next run says that they may have been paid twice', async () => {
  const { simulator } = stage;
  simulator.configure({ flex: { openai: { delay: 600_000 } } });
  const environment = { BATCHLING_LANE: 'flex' };
  const program = await start({ environment });
  await until(() => simulator.meter.mostAtOnce() === 2, 'the calls');
  program.kill('SIGINT');
  expectInterrupted(await program.ended);
  simulator.configure({ flex: { openai: { delay: 0 } } });
  // Nobody listens to its reports, so it shows itself what it did.
  const shown = { ...environment, BATCHLING_REPORT: '', BATCHLING_DISPLAY: 'plain' };
  const { lines, stderr } = await (await start({ environment: shown })).ended;
  expect(lines).toHaveLength(3);
  expect(stderr).toContain('2 calls may have been paid twice');
});

it('does not wait long for a create that gets no reply, and not at all when told twice', async () => {
  const { simulator } = stage;
  const hang = { kind: 'hang', ms: 600_000 } as const;
  simulator.faults.add({ method: 'POST', path: '/v1/batches', times: 2, action: hang });
  const first = await start();
  await until(() => simulator.countRequests('POST', '/v1/batches') === 1, 'the create');
  // However often: only a key is pressed twice.
  first.kill('SIGTERM');
  const terminating = setInterval(() => first.kill('SIGTERM'), 20);
  const patient = await first.ended;
  clearInterval(terminating);
  expectInterrupted(patient);
  expect(patient.stderr).toContain('interrupted: 2 calls sent without a reply so far');
  expect(patient.stderr).toContain('run the same command again to go on where it stopped');

  const second = await start({ store: stage.newStore() });
  await until(() => simulator.countRequests('POST', '/v1/batches') === 2, 'the create');
  second.kill('SIGINT');
  const interrupting = setInterval(() => second.kill('SIGINT'), 20);
  const hasty = await second.ended;
  clearInterval(interrupting);
  expectInterrupted(hasty);
  expect(hasty.stderr).not.toContain('interrupted:');
});

it('leaves the end to a program that listens itself, and sends no call that it makes then', async () => {
  const also = ['ownInterrupt', 'askWhenInterrupted', 'stayBusy'];
  const program = await startAndWait({ also, isTopLevel: true });
  program.kill('SIGINT');
  await program.printed('my own');
  await until(() => program.stderr().includes(resumeNote), 'the note');
  program.type('done\n');
  await program.printed('still here');
  expectInterrupted(await program.ended);

  const leaver = await startAndWait({ also: ['ownExit'] });
  leaver.kill('SIGINT');
  expect(await leaver.ended).toMatchObject({ code: 9 });
  await expectContinued();
});

it('changes nothing for a program that has no call waiting', async () => {
  const without = await start({ prompts: [], also: ['stayBusy'] });
  await without.printed('asking');
  without.kill('SIGINT');
  expect(await without.ended).toMatchObject({ code: null, signal: 'SIGINT', stderr: '' });

  const answered = await start({ also: ['stayBusy'] });
  await answered.printed('answer to "b"');
  answered.kill('SIGTERM');
  expect(await answered.ended).toMatchObject({ code: null, signal: 'SIGTERM' });
});

it('changes nothing for a program that the CLI has not started', async () => {
  const program = await startAndWait({ environment: { BATCHLING_REPORT: '' } });
  program.kill('SIGINT');
  expect(await program.ended).toMatchObject({ code: null, signal: 'SIGINT' });
});

it('covers a scope of the program with a store of its own', async () => {
  const { simulator } = stage;
  simulator.hold();
  const url = `${simulator.baseUrl('openai')}/chat/completions`;
  const parameters = [await compiledProgram('launched/nested-scope'), url, stage.newStore()];
  const program = await launchProgram(stage, parameters, { BATCHLING_STORE: store });
  await until(() => simulator.countRequests('GET', /\/batches/) > 0, 'a poll');
  program.kill('SIGINT');
  const ended = await program.ended;
  expectInterrupted(ended);
  expect(ended.stderr).toContain(resumeNote);
});
