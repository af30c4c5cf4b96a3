import { existsSync, readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { type Asker, type AskInput, askToTheEnd, startAsker } from '../support/processes/asker.ts';
import { until } from '../support/until.ts';
import { openScene, type Scene } from './parts/scene.ts';
import { judge } from './parts/verdict.ts';

const fine = { billedTwice: 0, lost: 0, wrong: 0, complaints: [] };
const three = ['red', 'green', 'blue'];
const same = (count: number) => Array.from({ length: count }, () => 'the same question');
const texts = ({ heard }: { heard: readonly { text?: string }[] }) => heard.map(({ text }) => text);

let scene: Scene;
const askers: Asker[] = [];
afterEach(async () => {
  for (const asker of askers.splice(0)) asker.send('SIGKILL');
  await scene.close();
});

async function start(input: AskInput): Promise<Asker> {
  const asker = await startAsker(input);
  askers.push(asker);
  return asker;
}

/** Until so many processes have joined the ledger. */
async function joined(count: number): Promise<void> {
  const folder = `${scene.store}.owners`;
  const owners = () => (existsSync(folder) ? readdirSync(folder).length : 0);
  await until(() => owners() >= count, `${count} processes`);
}

const own = () => scene.simulator.batches().filter(({ foreign }) => !foreign);

describe('four programs at once on one ledger', () => {
  it('that ask 500 identical questions each as runs of their own share 500 answers', async () => {
    scene = await openScene('openai');
    const outputs = await Promise.all(
      Array.from({ length: 4 }, () => askToTheEnd(scene.input(same(500)))),
    );
    expect(await judge(scene.simulator, same(500), outputs[0]?.heard ?? [])).toEqual(fine);
    for (const output of outputs) expect(texts(output)).toEqual(texts(outputs[0] as never));
  });

  it('that are one run draw 2,000 different samples', async () => {
    scene = await openScene('openai');
    const environment = { BATCHLING_RUN: 'one-run' };
    const outputs = await Promise.all(
      Array.from({ length: 4 }, () => askToTheEnd(scene.input(same(500)), environment)),
    );
    const heard = outputs.flatMap((output) => output.heard);
    expect(await judge(scene.simulator, same(2_000), heard)).toEqual(fine);
  });
});

it('a program that sleeps with a batch under way is not robbed of it', async () => {
  scene = await openScene('openai');
  scene.simulator.hold();
  const sleeper = await start(scene.input(three));
  await until(() => own().length === 1, 'the batch');
  await until(() => scene.simulator.countRequests('GET', /batches/) > 0, 'a poll');
  sleeper.send('SIGSTOP');
  scene.simulator.release();
  const other = await start(scene.input(three));
  await joined(2);
  const requests = scene.simulator.requests.length;
  // Some ten seconds of the program's own time.
  const quiet = await Promise.race([other.ended, sleep(700, 'waits')]);
  expect(quiet).toBe('waits');
  expect(scene.simulator.requests.length - requests).toBeLessThanOrEqual(1);
  sleeper.send('SIGCONT');
  const [first, second] = await Promise.all([sleeper.ended, other.ended]);
  expect(await judge(scene.simulator, three, first.output?.heard ?? [])).toEqual(fine);
  expect(texts(second.output as never)).toEqual(texts(first.output as never));
});

it('when the sender is killed, who waits for its batch takes over', async () => {
  scene = await openScene('openai');
  scene.simulator.hold();
  const { time: _, ...input } = scene.input(three, { options: { window: 10, poll: 10 } });
  const sender = await start(input);
  await until(() => own().length === 1, 'the batch');
  const other = await start(input);
  await joined(2);
  await sleep(100);
  sender.send('SIGKILL');
  scene.simulator.release();
  const { output } = await other.ended;
  expect(await judge(scene.simulator, three, output?.heard ?? [])).toEqual(fine);
});

it('what a taken-over batch held for a third program is sent by that program', async () => {
  scene = await openScene('openai');
  const { simulator } = scene;
  simulator.faults.add({ path: '/v1/files', action: { kind: 'hang', ms: 120_000 } });
  const { time: _, ...input } = scene.input(three, { options: { window: 10, poll: 10 } });
  const sender = await start(input);
  await until(() => simulator.countRequests('POST', '/v1/files') === 1, 'the upload');
  // Both wait for the sender; whoever takes over knows nothing of what the other one asked.
  const red = await start({ ...input, prompts: ['red'] });
  const blue = await start({ ...input, prompts: ['blue'] });
  await joined(3);
  await sleep(100);
  sender.send('SIGKILL');
  const heard = (await Promise.all([red.ended, blue.ended])).flatMap(
    ({ output }) => output?.heard ?? [],
  );
  expect(await judge(simulator, ['red', 'blue'], heard)).toEqual(fine);
});

it('a crowd of programs of which some are killed ends well', async () => {
  scene = await openScene('openai', { listLag: 100, foreignBatches: true });
  const prompts = Array.from({ length: 40 }, (_, index) => `question ${index}`);
  const input = scene.input(prompts, { options: { batchSize: 10 } });
  const crowd = await Promise.all(Array.from({ length: 4 }, () => start(input)));
  await until(() => own().length > 0, 'a batch');
  for (const asker of crowd.slice(0, 2)) asker.send('SIGKILL');
  const again = await start(input);
  const [one, two, three] = await Promise.all([crowd[2], crowd[3], again].map((a) => a?.ended));
  expect(await judge(scene.simulator, prompts, one?.output?.heard ?? [])).toEqual(fine);
  expect(texts(two?.output as never)).toEqual(texts(one?.output as never));
  expect(texts(three?.output as never)).toEqual(texts(one?.output as never));
});
