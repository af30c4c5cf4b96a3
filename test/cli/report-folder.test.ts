import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCli, variablesOf, writeFiles } from '../support/processes/run-cli.ts';
import { openStage, type Stage } from '../support/stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());

/** Leaves strange things in the folder of its run, lets the parent find them, and asks then. */
const littering = `
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const place = (name) => process.env.BATCHLING_REPORT + '/' + process.pid + '-' + name + '.ndjson';
mkdirSync(place('folder'));
symlinkSync('/dev/zero', place('link'));
execFileSync('mkfifo', [place('pipe')]);
writeFileSync(place('huge'), 'x'.repeat(9_000_000));
writeFileSync(place('odd'), '{"kind":"counts","stats":{"captured":"many"}}\\nnull\\n{"kind":"__proto__"}\\n');
await sleep(600);
`;
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

it.skipIf(process.platform === 'win32')(
  'shows the run whatever else lies where its processes report',
  async () => {
    const { code, stdout, stderr } = await run(`${littering}${asking}`);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '200\n' });
    expect(stderr).toMatch(/calls +1 answered/);
  },
);

it('shows a run that was started from what an earlier run has left behind', async () => {
  const { code, stderr } = await run(asking, { BATCHLING_REPORT: join(stage.folder, 'gone') });
  expect(code).toBe(0);
  expect(stderr).toMatch(/calls +1 answered/);
});
