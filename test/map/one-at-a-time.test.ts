import { mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openStage, type Stage } from '../support/stage.ts';
import { type MapBench, mapBench, openaiLine } from './map-bench.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage({ answer: ({ prompt }) => `<${prompt}>` });
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

const numbers = Array.from({ length: 40 }, (_, index) => index);
const inputOf = (word: string) =>
  numbers.map((number) => `${openaiLine(`c${number}`, `${word} ${number}`)}\n`).join('');
const given = ['in.jsonl', '-o', 'out.jsonl', '--batch-size', '10'];
const ownFiles = ['out.jsonl', 'out.jsonl.batchling.json'];

async function answersIn(bench: MapBench): Promise<unknown[]> {
  return (await bench.lines('out.jsonl')).map(({ custom_id: id, response }) => {
    const { body } = response as { body: { choices: { message: { content: string } }[] } };
    return `${id} ${body.choices[0]?.message.content}`;
  });
}

async function filesOf(bench: MapBench): Promise<string[]> {
  return (await readdir(bench.folder)).filter((name) => name.startsWith('out.jsonl')).toSorted();
}

/** Starts the job, and resolves when its batches are with the provider, where they wait. */
async function startHeld(bench: MapBench) {
  stage.simulator.hold();
  const run = await bench.start(...given);
  await expect.poll(() => stage.simulator.batches().length).toBe(4);
  return run;
}

describe('two processes with one output', () => {
  it('the second one is refused, and the first one goes on', async () => {
    const bench = await mapBench(stage, { 'in.jsonl': inputOf('p') });
    const first = await startHeld(bench);
    const second = await bench.map(...given);
    expect(second.code).toBe(2);
    expect(second.stderr).toContain('Another process is writing out.jsonl');
    stage.simulator.release();
    expect(await first.ended).toMatchObject({ code: 0 });
    expect(await answersIn(bench)).toEqual(numbers.map((number) => `c${number} <p ${number}>`));
    expect(await filesOf(bench)).toEqual(ownFiles);
  });

  it('that begin at the same moment write each line once', async () => {
    const bench = await mapBench(stage, { 'in.jsonl': inputOf('p') });
    const ends = await Promise.all([bench.map(...given), bench.map(...given), bench.map(...given)]);
    const codes = ends.map(({ code }) => code);
    expect(codes).toContain(0);
    expect(codes.filter((code) => code !== 0 && code !== 2)).toEqual([]);
    expect(await answersIn(bench)).toEqual(numbers.map((number) => `c${number} <p ${number}>`));
    expect(stage.simulator.meter.summary()).toMatchObject({ total: 40, executedTwice: [] });
  });

  it('of which one was killed leave nothing behind that holds the other up', async () => {
    const bench = await mapBench(stage, { 'in.jsonl': inputOf('p') });
    const first = await startHeld(bench);
    first.process.kill('SIGKILL');
    await first.ended;
    expect(await filesOf(bench)).toContain('out.jsonl.batchling');
    stage.simulator.release();
    expect(await bench.map(...given)).toMatchObject({ code: 0 });
    expect(await filesOf(bench)).toEqual(ownFiles);
  });
});

it('what a killed job without an output file has left in the temporary folder is removed by the next one', async () => {
  const bench = await mapBench(stage);
  const temporary = join(bench.folder, 'tmp');
  await mkdir(temporary);
  const environment = { TMPDIR: temporary, TEMP: temporary };
  const folders = async () =>
    (await readdir(temporary)).filter((name) => name.startsWith('batchling-map-'));
  const begun = async (input: string) => {
    const before = stage.simulator.batches().length;
    const run = await bench.startWith({ environment, input }, '-');
    await expect.poll(() => stage.simulator.batches().length).toBeGreaterThan(before);
    return run;
  };
  stage.simulator.hold();
  const killed = await begun(inputOf('killed'));
  const living = await begun(inputOf('living'));
  killed.process.kill('SIGKILL');
  await killed.ended;
  expect(await folders()).toHaveLength(2);
  const third = await begun(inputOf('third'));
  expect(await folders()).toHaveLength(2);
  stage.simulator.release();
  expect(await living.ended).toMatchObject({ code: 0 });
  expect(await third.ended).toMatchObject({ code: 0 });
  expect(await folders()).toEqual([]);
});

describe('an input that changes while the job runs', () => {
  const changes: Record<string, (path: string) => Promise<void>> = {
    'is written over with as many bytes': (path) => writeFile(path, inputOf('q')),
    'has another file in its place': async (path) => {
      await writeFile(`${path}.new`, inputOf('q'));
      await rename(`${path}.new`, path);
    },
    'loses its first line': (path) => writeFile(path, inputOf('p').replace(/^.*\n/, '')),
  };

  it.each(Object.entries(changes))('%s: no answer comes to another line', async (_, change) => {
    const bench = await mapBench(stage, { 'in.jsonl': inputOf('p') });
    const run = await startHeld(bench);
    await change(join(bench.folder, 'in.jsonl'));
    stage.simulator.release();
    const { code, stderr } = await run.ended;
    expect(code).toBe(1);
    expect(stderr).toContain('in.jsonl has changed while it was read');
    expect(await bench.map(...given)).toMatchObject({ code: 2 });
    expect(await bench.map(...given, '--restart')).toMatchObject({ code: 0 });
    const lines = (await bench.read('in.jsonl')).split('\n').filter((line) => line !== '');
    const wanted = lines.map((line) => {
      const { custom_id: id, body } = JSON.parse(line);
      return `${id} <${body.messages[0].content}>`;
    });
    expect(await answersIn(bench)).toEqual(wanted);
  });
});
