import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCli, variablesOf, writeFiles } from '../support/processes/run-cli.ts';
import { openStage, type Stage } from '../support/stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());

const asking = `
const headers = { authorization: 'Bearer sk-test-key', 'content-type': 'application/json' };
const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hello' }] });
const response = await fetch(process.argv[2], { method: 'POST', headers, body });
console.log(response.status);
`;

async function run(text: string, environment: Record<string, string> = {}) {
  const folder = join(stage.folder, crypto.randomUUID());
  await writeFiles(folder, { 'program.mjs': text });
  const url = `${stage.simulator.baseUrl('openai')}/chat/completions`;
  return runCli(['run', 'program.mjs', url], {
    folder,
    environment: { ...variablesOf(stage), BATCHLING_DISPLAY: 'plain', ...environment },
  });
}

it('shows a run that was started from what an earlier run has left behind', async () => {
  const { code, stderr } = await run(asking, { BATCHLING_REPORT: join(stage.folder, 'gone') });
  expect(code).toBe(0);
  expect(stderr).toMatch(/: 1 call answered/);
});

it.each([
  ['a dry run without its numbers', { kind: 'dry-run', scope: 1 }],
  ['numbers that are none', { kind: 'counts', stats: { captured: 'many' } }],
  ['times that are none', { kind: 'typical', times: 5 }],
  ['a kind that it does not know', { kind: 'later' }],
  ['no object', null],
])('goes on if a process of another version reports %s', async (_what, message) => {
  const reporting = `
import { appendFileSync } from 'node:fs';
const report = (message) =>
  appendFileSync(process.env.BATCHLING_REPORT + '/' + process.pid + '-9', JSON.stringify(message) + '\\n');
report({ kind: 'open', store: 'ledger.db', completionWindow: 86400000 });
report(${JSON.stringify(message)});
const facts = { batch: 'bl_1', provider: 'openai', endpoint: '/v1', model: 'm', count: 2 };
report({ kind: 'event', time: 1, name: 'batch:submitted', event: facts });
`;
  const { code, stdout, stderr } = await run(reporting + asking);
  expect({ code, stdout }).toEqual({ code: 0, stdout: '200\n' });
  expect(stderr).toMatch(/: 1 call answered/);
});
