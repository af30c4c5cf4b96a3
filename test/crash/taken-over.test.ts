import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterEach, describe, expect, it } from 'vitest';
import { type BatchingContext, batchify } from '../../src/index.ts';
import { hour, requests, status } from '../guarantees/fault-case.ts';
import { LeapingClock } from '../guarantees/leaping-clock.ts';
import { ask, askClaude } from '../support/ask.ts';
import { type AskInput, askToTheEnd, startAsker } from '../support/processes/asker.ts';
import { networkPoint, setTrap } from './parts/kills.ts';
import { openScene, type Provider, type Scene } from './parts/scene.ts';
import { judge } from './parts/verdict.ts';

const fine = { billedTwice: 0, lost: 0, wrong: 0, complaints: [] };
const three = ['red', 'green', 'blue'];

const leftOpen: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const open of leftOpen.splice(0).reverse()) await open.close();
});

function asked(scope: BatchingContext, input: AskInput): Promise<PromiseSettledResult<string>[]> {
  const { sdk, apiKey, baseURL, prompts } = input;
  const openai = new OpenAI({ apiKey, baseURL, organization: null, project: null });
  const anthropic = new Anthropic({ apiKey, baseURL });
  return scope.run(() =>
    Promise.allSettled(
      prompts.map((prompt) =>
        sdk === 'openai' ? ask(openai, prompt) : askClaude(anthropic, prompt),
      ),
    ),
  );
}

/** Asks in this process, where hours pass in no time. The program lives on afterwards. */
async function askHere(input: AskInput) {
  const clock = new LeapingClock(40 * hour);
  const scope = batchify({ ...input.options, clock });
  leftOpen.push(scope, { close: async () => clock.stop() });
  const resent: string[] = [];
  scope.on('batch:resent', ({ reason }) => resent.push(reason));
  const told = await Promise.race([asked(scope, input), clock.overslept]);
  const statuses = told.map((one) => (one.status === 'rejected' ? one.reason.status : 200));
  return { statuses, resent };
}

async function openInput(provider: Provider) {
  const scene = await openScene(provider);
  leftOpen.push(scene);
  const { time: _, ...input } = scene.input(three, { options: { window: 10, poll: 10 } });
  return { scene, input, simulator: scene.simulator };
}

async function killAt(scene: Scene, provider: Provider, start: string): Promise<void> {
  const trap = setTrap(scene.simulator, networkPoint(provider, start));
  await trap(await startAsker(scene.input(three)));
}

const refused = { times: Number.POSITIVE_INFINITY, action: status(401) };

describe.each(['openai', 'anthropic'] as const)('%s', (provider) => {
  it('a batch that could not be read is collected by another program, while the first lives', async () => {
    const { input, simulator } = await openInput(provider);
    const fault = simulator.faults.add({ ...requests.poll, ...refused });
    expect((await askHere(input)).statuses).toEqual([401, 401, 401]);
    fault.remove();
    const { heard } = await askToTheEnd(input);
    expect(await judge(simulator, three, heard)).toEqual(fine);
  });

  it('a batch of a killed run that could not be looked for is found by the next', async () => {
    const { input, scene, simulator } = await openInput(provider);
    await killAt(scene, provider, 'the create was accepted, its answer is on the way');
    const fault = simulator.faults.add({ ...requests.list, ...refused });
    expect((await askHere(input)).statuses).toEqual([401, 401, 401]);
    fault.remove();
    const { heard } = await askToTheEnd(scene.input(three));
    expect(await judge(simulator, three, heard)).toEqual(fine);
  });

  it('a batch of a killed run that was never accepted is sent again, which is reported', async () => {
    const { input, scene, simulator } = await openInput(provider);
    await killAt(scene, provider, 'the create is under way');
    expect(await askHere(input)).toEqual({
      statuses: [200, 200, 200],
      resent: ['sent again: the create was never accepted'],
    });
    expect(simulator.meter.total).toBe(3);
  });
});
