import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import type { JobCounts } from '../../src/map/job/run-job.ts';
import { mapFile } from '../../src/map/map-file.ts';
import { startHoldingServer } from '../support/servers/holding-server.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { until } from '../support/until.ts';
import { openaiLine } from './map-bench.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterEach(() => {
  vi.unstubAllEnvs();
});
afterAll(() => stage.close());

it('counts lines that were answered one by one while others of their chunk are on the wire', async () => {
  vi.stubEnv('OPENAI_API_KEY', 'sk-test');
  const server = await startHoldingServer();
  onTestFinished(() => server.close());
  const folder = dirname(dirname(stage.newStore()));
  const [input, output] = [join(folder, 'in.jsonl'), join(folder, 'out.jsonl')];
  const lines = ['a', 'b', 'c', 'd'].map((id) => openaiLine(id, `Say ${id}`));
  await writeFile(input, lines.join('\n'));
  let counts: Readonly<JobCounts> | undefined;
  const job = mapFile(
    {
      inputs: [input],
      output,
      to: server.baseUrl,
      unordered: false,
      skipBad: false,
      restart: false,
      retryErrors: false,
      detach: false,
      yes: true,
    },
    stage.options({ lane: 'realtime', canary: false, realtimeConcurrency: 2 }),
    {
      stdin: process.stdin,
      stdout: process.stdout,
      stderr: process.stderr,
      stopped: new AbortController().signal,
      mayBegin: async () => true,
      began: (given) => {
        counts = given;
      },
      tell: () => undefined,
    },
  );
  for (const sent of [1, 2, 3]) {
    await until(() => server.held.length === 2 || sent === 3, 'calls on the wire');
    server.answer();
    await until(() => counts?.sent === sent, `${sent} lines to be counted`);
  }
  await until(() => server.held.length === 1);
  server.answer();
  expect(await job).toMatchObject({ is: 'done', progress: { done: 4, failed: 0 } });
});
