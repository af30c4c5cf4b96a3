import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { runCli, variablesOf } from '../support/processes/run-cli.ts';
import { openStage, type Stage } from '../support/stage.ts';

const folder = fileURLToPath(new URL('../..', import.meta.url));

let stage: Stage;
beforeAll(async () => {
  // The same words in realtime and in a batch, so that outputs can be compared.
  stage = await openStage({ answer: ({ prompt }) => `<${prompt}>` });
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

/** Keys and base URLs by the variables that the SDKs read themselves. */
function sdkVariables(): Record<string, string> {
  const { simulator } = stage;
  return {
    OPENAI_API_KEY: 'sk-example',
    OPENAI_BASE_URL: simulator.baseUrl('openai'),
    ANTHROPIC_API_KEY: 'sk-ant-example',
    ANTHROPIC_BASE_URL: simulator.baseUrl('anthropic'),
    GEMINI_API_KEY: 'AIza-example',
    GOOGLE_GEMINI_BASE_URL: simulator.baseUrl('google'),
  };
}

function batchVariables(): Record<string, string> {
  const ours = variablesOf(stage);
  const google = `${stage.simulator.baseUrl('google')}=google`;
  return {
    ...sdkVariables(),
    ...ours,
    BATCHLING_HOSTS: `${ours.BATCHLING_HOSTS},${google}`,
    // npx warns about settings of the machine.
    npm_config_loglevel: 'silent',
  };
}

async function withoutBatchling(file: string): Promise<string> {
  const env = { ...process.env, ...sdkVariables() };
  const given = file.endsWith('.ts') ? ['--import', 'tsx', file] : [file];
  return (await promisify(execFile)(process.execPath, given, { cwd: folder, env })).stdout;
}

it.each([
  ['openai.ts', ['npx', 'tsx'], { calls: 6, first: 'Lisbon: <One sentence about Lisbon.>' }],
  ['anthropic.mjs', ['node'], { calls: 6, first: 'bridge: <bridge>' }],
  ['google.mjs', ['node'], { calls: 6, first: 'otter: <What does the otter eat?>' }],
  ['ai-sdk.ts', ['tsx'], { calls: 8, first: 'tides: <In ten words: <Explain tides to a child.>>' }],
  ['langchain.ts', ['tsx'], { calls: 6, first: 'Norway: <Norway>' }],
])('examples/unchanged/%s prints the same in batches', async (name, command, { calls, first }) => {
  const file = `examples/unchanged/${name}`;
  const [plain, run, exec] = await Promise.all([
    withoutBatchling(file),
    runCli(['run', file], { folder, environment: batchVariables() }),
    runCli(['exec', '--', ...command, file], { folder, environment: batchVariables() }),
  ]);
  expect(plain.split('\n')).toContain(first);
  expect(run).toEqual({ code: 0, stdout: plain, stderr: '' });
  expect(exec).toEqual(run);

  const { meter } = stage.simulator;
  expect(meter.summary()).toMatchObject({ realtime: calls, batched: 2 * calls, failed: 0 });
  const batches = new Set(meter.executions.flatMap(({ batchId }) => batchId ?? []));
  expect(batches.size).toBeLessThan(2 * calls);
});
