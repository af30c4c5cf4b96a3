import { afterEach, describe, expect, it } from 'vitest';
import { type AskInput, askToTheEnd, startAsker } from '../support/processes/asker.ts';
import { until } from '../support/until.ts';
import { networkPoint, setTrap } from './parts/kills.ts';
import { openScene, type Provider, type Scene } from './parts/scene.ts';
import { judge } from './parts/verdict.ts';

const fine = { billedTwice: 0, lost: 0, wrong: 0, complaints: [] };
const prompts = Array.from({ length: 12 }, (_, at) => `colour ${at}`);

let scene: Scene;
afterEach(() => scene.close());

async function killAt(input: AskInput, start: string): Promise<void> {
  const trap = setTrap(scene.simulator, networkPoint(input.sdk as Provider, start));
  await trap(await startAsker(input));
}

describe.each(['openai', 'anthropic'] as const)('killed with a canary of %s out', (provider) => {
  it.each([
    'the create was accepted, its answer is on the way',
    'the create is under way',
    'a poll is under way',
    'results are on the way',
  ])('and run again, nothing is paid twice and nothing is lost: %s', async (point) => {
    scene = await openScene(provider, {}, { canary: 'batch' });
    await killAt(scene.input(prompts), point);
    expect(scene.simulator.batches().length).toBeLessThanOrEqual(1);
    const { heard } = await askToTheEnd(scene.input(prompts));
    expect(await judge(scene.simulator, prompts, heard)).toEqual(fine);
  });
});

it('an ordinary call that was on the wire when its program was killed may be paid twice, and nothing else', async () => {
  scene = await openScene('openai', {}, { canary: 'call' });
  const { simulator } = scene;
  const path = '/v1/chat/completions';
  simulator.faults.add({ method: 'POST', path, action: { kind: 'delay', ms: 20_000 } });
  const asker = await startAsker(scene.input(prompts));
  await until(() => simulator.countRequests('POST', path) === 1, 'the canary');
  asker.send('SIGKILL');
  await asker.ended;
  const { heard } = await askToTheEnd(scene.input(prompts));
  expect(heard.every(({ text }) => text !== undefined)).toBe(true);
  expect(simulator.meter.total).toBeLessThanOrEqual(prompts.length + 1);
});

it('several processes of one run each have a canary, and share the answers', async () => {
  scene = await openScene('openai', {}, { canary: 'batch' });
  const input = scene.input(prompts);
  const both = await Promise.all([askToTheEnd(input), askToTheEnd(input)]);
  for (const { heard } of both) expect(heard.every(({ text }) => text !== undefined)).toBe(true);
  expect(scene.simulator.meter.executedTwice()).toEqual([]);
});
