import type OpenAI from 'openai';
import pLimit from 'p-limit';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { batchify } from '../../../src/index.ts';
import { ask } from '../../support/ask.ts';
import { hearStderr } from '../../support/heard.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

let stage: Stage;

beforeEach(async () => {
  stage = await openStage();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await stage.close();
});

/** What is said about small batches while the program runs. */
async function hints(program: (client: OpenAI) => Promise<unknown>): Promise<string[]> {
  const heard = hearStderr();
  const client = stage.openai();
  await batchify(() => program(client), stage.options({ display: 'plain', window: '30ms' }));
  return heard.lines().filter((line) => line.includes('large-batches'));
}

const finding = expect.stringMatching(/one after another.*p-limit, LangChain's maxConcurrency/);

function prompts(count: number): string[] {
  return Array.from({ length: count }, (_, at) => `What is the meaning of the number ${at}?`);
}

/** Calls a tool a few times; what it was answered is in its next call. */
async function agent(client: OpenAI, name: string, steps: number): Promise<void> {
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: name }];
  for (let step = 0; step < steps; step += 1) {
    const { choices } = await client.chat.completions.create({ model: 'gpt-test', messages });
    const content = choices[0]?.message.content ?? '';
    messages.push({ role: 'assistant', content }, { role: 'user', content: `Go on, ${step}.` });
  }
}

describe('a program', () => {
  it('with p-limit(10) is told at its second batch, once', async () => {
    const limit = pLimit(10);
    const said = await hints((client) =>
      Promise.all(prompts(40).map((prompt) => limit(() => ask(client, prompt)))),
    );
    expect(said).toEqual([finding]);
  });

  it('with a loop that awaits each call is told at its second batch', async () => {
    const said = await hints(async (client) => {
      for (const prompt of prompts(4)) await ask(client, prompt);
    });
    expect(said).toEqual([finding]);
  });

  it('that asks for everything at once is left alone', async () => {
    expect(
      await hints((client) => Promise.all(prompts(37).map((one) => ask(client, one)))),
    ).toEqual([]);
  });

  it('that asks once is left alone', async () => {
    expect(await hints((client) => ask(client, 'one question'))).toEqual([]);
  });

  it('of a few calls, of which another queue has more, is left alone', async () => {
    const said = await hints((client) =>
      Promise.all(
        ['one', 'other'].flatMap((model) => prompts(10).map((one) => ask(client, one, model))),
      ),
    );
    expect(said).toEqual([]);
  });

  it('of agents is told once that their batches run one after another', async () => {
    const said = await hints((client) =>
      Promise.all(prompts(40).map((name) => agent(client, name, 4))),
    );
    expect(said).toEqual([finding]);
  });

  it('whose calls come while its first batch is under way is left alone', async () => {
    stage.simulator.hold();
    const said = await hints(async (client) => {
      const first = ask(client, 'first');
      await until(() => stage.simulator.batches().length === 1, 'the first batch');
      const second = ask(client, 'second');
      await until(() => stage.simulator.batches().length === 2, 'the second batch');
      stage.simulator.release();
      await Promise.all([first, second]);
    });
    expect(said).toEqual([]);
  });
});
