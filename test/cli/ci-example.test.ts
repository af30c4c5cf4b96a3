import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCli, variablesOf, writeFiles } from '../support/processes/run-cli.ts';
import { openStage, type Stage } from '../support/stage.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = join(root, 'examples/ci');

let stage: Stage;
beforeAll(async () => {
  stage = await openStage({ answer: ({ prompt }) => `<${prompt}>` });
});
afterAll(() => stage.close());

it('the workflow of examples/ci sends a batch, leaves, and comes back for the answers', async () => {
  const workflow = await readFile(join(folder, 'answer-all.yml'), 'utf8');
  const [, command = ''] = /npx batchling (run .*?) \|\|/.exec(workflow) ?? [];
  expect(command).toBe('run --detach answer-all.mjs questions.txt answers.jsonl');
  await writeFiles(stage.folder, { 'questions.txt': 'How deep?\nHow high?\n' });
  const given = command
    .split(' ')
    .map((word) => (/questions|answers/.test(word) ? join(stage.folder, word) : word));
  const environment = {
    ...variablesOf(stage),
    OPENAI_API_KEY: 'sk-example',
    OPENAI_BASE_URL: stage.simulator.baseUrl('openai'),
  };
  const nightly = () => runCli(given, { folder, environment });

  stage.simulator.hold();
  expect(await nightly()).toMatchObject({ code: 75, stdout: '' });
  expect(await nightly()).toMatchObject({ code: 75, stdout: '' });
  stage.simulator.release();
  await expect.poll(() => stage.simulator.batches()[0]?.ending).toBe('completed');
  expect(await nightly()).toMatchObject({ code: 0, stdout: expect.stringContaining('2 answers') });
  const answers = await readFile(join(stage.folder, 'answers.jsonl'), 'utf8');
  expect(
    answers
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toEqual([
    { question: 'How deep?', answer: '<How deep?>' },
    { question: 'How high?', answer: '<How high?>' },
  ]);
  expect(stage.simulator.meter).toMatchObject({ batched: 2, realtime: 0 });
});
