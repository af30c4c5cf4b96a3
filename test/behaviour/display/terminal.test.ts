import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { BatchifyOptions } from '../../../src/index.ts';
import type { TerminalJob } from '../../support/programs/launched/terminal-job.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { runCommand, runInTerminal } from '../../support/terminal/run-in-terminal.ts';
import { until } from '../../support/until.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

function job(given: Partial<TerminalJob> = {}, options: BatchifyOptions = {}): TerminalJob {
  const baseURL = stage.simulator.baseUrl('openai');
  return { baseURL, options: stage.options({ window: 100, ...options }), calls: 30, ...given };
}

/** A job whose batch is under way until the test lets it go on. */
async function held(given: Partial<TerminalJob>, columns = 80, redirection = '') {
  stage.simulator.hold();
  const run = await runInTerminal('launched/terminal-job', job(given), columns, {}, redirection);
  await until(() => /\d of 30 done/.test(run.lines().join('\n')), 'the live lines');
  return run;
}

const live = /\d of 30 done|running|reading answers/;

describe.each([80, 50])('a terminal of %i columns', (columns) => {
  it('shows the current state, and at the end only the lines that stay', async () => {
    const run = await held({}, columns);
    await until(
      () => /^ {2}openai gpt.*▒{8,} .*30 +running/.test(run.lines().at(-1) ?? ''),
      'the batch',
    );
    stage.simulator.release();
    const { code, lines, written } = await run.ended;
    expect(code).toBe(0);
    expect(lines.filter((line) => live.test(line))).toEqual([]);
    const text = lines.join(' ').replaceAll(/ +/g, ' ');
    expect(text).toMatch(/sent bl_.* a batch takes minutes .* collected bl_.* 30 calls answered/);
    // The cursor is never hidden: a killed program could not bring it back.
    expect(written).not.toContain('?25');
  });

  it('never mixes with what the program writes', async () => {
    const prints = [
      'first line\n',
      'a prompt: ',
      'its end\n',
      'col',
      'our',
      'ed\u001b[0m\n',
      'last\n',
    ];
    const run = await held({ prints }, columns);
    await until(() => run.lines().includes('last'), 'the output of the program');
    stage.simulator.release();
    const { lines } = await run.ended;
    const own = lines.filter((line) => !/^batchling:|^ {2}/.test(line));
    expect(own).toEqual(['first line', 'a prompt: its end', 'coloured', 'last']);
  });
});

it('a line that the program has not ended is left alone', async () => {
  const run = await held({ prints: ['Name? '] });
  await until(() => run.lines().at(-1) === 'Name?', 'the prompt');
  const before = run.written();
  stage.simulator.release();
  await until(() => run.written() !== before, 'more');
  const { lines } = await run.ended;
  expect(lines).toContain('Name?');
});

it('output that the program writes to a file holds none of our lines', async () => {
  const file = join(stage.folder, 'output.txt');
  const run = await held({ prints: ['one\n', 'two\n'] }, 80, `> '${file}'`);
  stage.simulator.release();
  expect((await run.ended).code).toBe(0);
  expect(await readFile(file, 'utf8')).toBe('one\ntwo\n');
});

it('has colours unless NO_COLOR is set', async () => {
  const colours = '\u001b[36m';
  const plain = await runInTerminal('launched/terminal-job', job(), 80, { NO_COLOR: '1' });
  expect((await plain.ended).written).not.toContain(colours);
  const coloured = await runInTerminal('launched/terminal-job', job());
  expect((await coloured.ended).written).toContain(colours);
});

it('gets plain lines where it understands no escape codes', async () => {
  const run = await runInTerminal('launched/terminal-job', job(), 80, { TERM: 'dumb' });
  const { written, lines } = await run.ended;
  expect(written).not.toContain('\u001b');
  expect(lines.some((line) => /^batchling: (saved .*: )?30 calls answered/.test(line))).toBe(true);
});

it('Ctrl-C ends the demo with 130 and says how to go on', async () => {
  const main = fileURLToPath(new URL('../../../src/cli/main.ts', import.meta.url));
  const run = runCommand(`'${process.execPath}' --import tsx '${main}' demo`, 80);
  await until(() => run.written().includes(' done'), 'the live lines');
  run.type('\u0003');
  const { code, lines } = await run.ended;
  expect(code).toBe(130);
  expect(lines.at(-1)).toMatch(/^batchling: Stopped\..*it goes on where it stopped\.$/);
  expect(lines.filter((line) => live.test(line))).toEqual([]);
});
