import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { compiledProgram } from '../support/processes/compiled.ts';
import type { RunParent } from '../support/programs/launched/run-parent.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { runInTerminal } from '../support/terminal/run-in-terminal.ts';
import { until } from '../support/until.ts';

let stage: Stage;
let folders = 0;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

function job(given: Partial<RunParent> = {}, calls = 7): RunParent {
  folders += 1;
  const folder = join(stage.folder, `run-${folders}`);
  mkdirSync(folder);
  const hosts = Object.entries(stage.hosts).map(([base, provider]) => `${base}=${provider}`);
  const environment = {
    BATCHLING_HOSTS: hosts.join(),
    BATCHLING_STORE: stage.newStore(),
    BATCHLING_WINDOW: '50ms',
    BATCHLING_POLL: '10ms',
    TMPDIR: folder,
  };
  const child = { baseURL: stage.simulator.baseUrl('openai'), calls, prints: ['the program\n'] };
  return { children: [child], environment, outcome: join(folder, 'outcome'), ...given };
}

/** Without a terminal. */
async function run(input: RunParent) {
  const program = await compiledProgram('launched/run-parent');
  const { BATCHLING_DISPLAY: _, ...inherited } = process.env;
  const env = { ...inherited, ...input.environment };
  const child = spawn(process.execPath, [program, JSON.stringify(input)], { env });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, stdout, lines: stderr.split('\n').filter(Boolean) };
}

const statsOf = (input: RunParent) =>
  JSON.parse(readFileSync(input.outcome as string, 'utf8')).stats;

it('plain lines are printed where there is no terminal', async () => {
  const input = job();
  const { code, stdout, lines } = await run(input);
  expect(code).toBe(0);
  expect(stdout).toBe('the program\n');
  expect(lines[0]).toMatch(/^batchling: sent bl_\w+: 7 requests to openai gpt-5-mini/);
  expect(lines.join('\n')).not.toContain('\u001b');
  const end = lines.findIndex((line) => line.startsWith('batchling: done in'));
  expect(lines.slice(end - 1, end + 3)).toEqual([
    expect.stringMatching(/^batchling: saved \$0\.\d+ \(50%\), paid \$0\.\d+$/),
    expect.stringMatching(/^batchling: done in \d+s: 7 calls answered$/),
    'batchling:   batches  1',
    expect.stringMatching(/^batchling: {3}tokens {3}\d+ in, \d+ out$/),
  ]);
  // The folder of the reports is gone.
  expect(
    readdirSync(input.environment.TMPDIR as string).filter((name) => /run/.test(name)),
  ).toEqual([]);
});

it('a batch that its provider refuses as a whole is told with the reason, when it happens', async () => {
  const errors = [{ code: 'billing', message: 'No money.' }];
  stage.simulator.faults.nextBatch({ outcome: 'failed', errors });
  const { lines } = await run(job());
  const failed = lines.findIndex((line) =>
    /^batchling: bl_\w+ failed: billing: No money\.$/.test(line),
  );
  expect(failed).toBeGreaterThan(0);
  expect(lines.findIndex((line) => line.includes('0 of 7 calls answered'))).toBeGreaterThan(failed);
});

it('JSON has every event of every process, with its id and the time', async () => {
  const input = job({ mode: 'json' });
  const { lines } = await run({
    ...input,
    children: [...input.children, { ...input.children[0]!, model: 'gpt-5' }],
  });
  const records = lines.map((line) => JSON.parse(line));
  const named = (name: string) => records.filter(({ event }) => event === name);
  expect(named('call:captured')).toHaveLength(14);
  expect(named('call:answered')).toHaveLength(14);
  expect(named('batch:submitted')).toHaveLength(2);
  expect(new Set(named('batch:collected').map(({ pid }) => pid)).size).toBe(2);
  expect(records.at(-1)).toMatchObject({ event: 'summary', stats: { answered: 14 } });
  for (const { time } of records) expect(new Date(time).toISOString()).toBe(time);
});

it('a program without LLM calls gets no line of ours', async () => {
  const { lines, stdout } = await run(job({}, 0));
  expect(lines).toEqual([]);
  expect(stdout).toBe('the program\n');
});

it('a terminal gets plain lines in CI', async () => {
  const started = await runInTerminal('launched/run-parent', job(), 80, { CI: 'true' });
  const { written, code } = await started.ended;
  expect(code).toBe(0);
  // No rows at the bottom.
  expect(written).not.toContain('\u001b[1;');
  expect(written).toContain(' done in ');
});

it('none shows nothing; the numbers are known all the same, whatever else is in the folder', async () => {
  stage.simulator.hold();
  const input = job({ mode: 'none' });
  const folder = input.environment.TMPDIR as string;
  const running = run(input);
  const reports = () => readdirSync(folder).find((name) => name.startsWith('batchling-run-'));
  await until(() => reports() !== undefined, 'the folder');
  const bad = [
    'not JSON',
    '{"kind":"event"}',
    'null',
    '{"kind":"counts","stats":{"captured":"x"}}',
  ];
  const path = join(folder, reports() as string, `${process.pid}-0-bad.ndjson`);
  writeFileSync(path, `${bad.join('\n')}\n`);
  stage.simulator.release();
  const { code, lines } = await running;
  expect({ code, lines }).toEqual({ code: 0, lines: [] });
  expect(statsOf(input)).toMatchObject({ captured: 7, answered: 7 });
});
