import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterEach, expect, it } from 'vitest';
import { type BatchingContext, batchify } from '../../src/index.ts';
import { hour, requests, status } from '../guarantees/fault-case.ts';
import { LeapingClock } from '../guarantees/leaping-clock.ts';
import { ask, askClaude } from '../support/ask.ts';
import { type AskInput, askToTheEnd } from '../support/asker.ts';
import { openScene } from './scene.ts';
import { judge } from './verdict.ts';

const fine = { billedTwice: 0, lost: 0, wrong: 0, complaints: [] };
const three = ['red', 'green', 'blue'];
const forGood = Number.POSITIVE_INFINITY;

const leftOpen: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const open of leftOpen.splice(0).reverse()) await open.close();
});

function asked(scope: BatchingContext, input: AskInput): Promise<PromiseSettledResult<string>[]> {
  const { provider, apiKey, baseURL, prompts } = input;
  const openai = new OpenAI({ apiKey, baseURL, organization: null, project: null });
  const anthropic = new Anthropic({ apiKey, baseURL });
  return scope.run(() =>
    Promise.allSettled(
      prompts.map((prompt) =>
        provider === 'openai' ? ask(openai, prompt) : askClaude(anthropic, prompt),
      ),
    ),
  );
}

it.each(['openai', 'anthropic'] as const)(
  'what one program has given up another one collects, although the first lives on: %s',
  async (provider) => {
    const scene = await openScene(provider);
    leftOpen.push(scene);
    const { time: _, ...input } = scene.input(three, { options: { window: 10, poll: 10 } });
    const clock = new LeapingClock(40 * hour);
    const first = batchify({ ...input.options, clock });
    leftOpen.push(first, { close: async () => clock.stop() });
    const fault = scene.simulator.faults.add({
      ...requests.poll,
      times: forGood,
      action: status(401),
    });
    const told = await Promise.race([asked(first, input), clock.overslept]);
    for (const { status } of told) expect(status).toBe('rejected');
    fault.remove();
    const { heard } = await askToTheEnd(input);
    expect(await judge(scene.simulator, three, heard)).toEqual(fine);
  },
);
