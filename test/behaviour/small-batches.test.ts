import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { batchify } from '../../src/index.ts';
import { ask } from '../support/ask.ts';
import { openStage, type Stage } from '../support/stage.ts';

let stage: Stage;

beforeEach(async () => {
  stage = await openStage();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await stage.close();
});

/** What a program prints that has no more than so many calls under way at once. */
async function printed(atOnce: number, calls: number): Promise<string> {
  const lines: string[] = [];
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => lines.push(String(text)) > 0);
  const client = stage.openai();
  await batchify(
    async () => {
      for (let at = 0; at < calls; at += atOnce) {
        const prompts = Array.from({ length: atOnce }, (_, index) => `question ${at + index}`);
        await Promise.all(prompts.map((prompt) => ask(client, prompt)));
      }
    },
    stage.options({ display: 'plain', window: '5ms' }),
  );
  return lines.join('');
}

it('a program that limits its own concurrency is told so, once', async () => {
  const output = await printed(2, 10);
  expect(output.match(/limits its own concurrency/g)).toHaveLength(1);
});

it('a program that asks for everything at once is not', async () => {
  expect(await printed(10, 10)).not.toContain('concurrency');
});
