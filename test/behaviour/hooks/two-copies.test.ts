import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { compiledModule } from '../../support/processes/compiled.ts';
import { resultOf } from '../../support/processes/run-program.ts';
import { chatUrl } from '../../support/source-of.ts';
import { openStage, type Stage } from '../../support/stage.ts';

interface Step {
  readonly result: { readonly text: string; readonly source: string | null };
  readonly captured: number;
}

interface Report {
  readonly different: boolean;
  readonly wrappedOnce: boolean;
  readonly outerCaptured: number;
  readonly steps: Record<'first' | 'second' | 'nested' | 'realtime' | 'outside', Step>;
  readonly error: { own: boolean; marked: boolean };
}

const root = fileURLToPath(new URL('../../..', import.meta.url));
let stage: Stage;
let folder: string;
let report: Report;

beforeAll(async () => {
  stage = await openStage();
  const cache = join(root, 'node_modules', '.cache');
  await mkdir(cache, { recursive: true });
  folder = await mkdtemp(join(cache, 'batchling-copy-'));
  const index = await compiledModule('src/index');
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  await cp(dirname(index), join(folder, 'src'), { recursive: true });
  report = await resultOf<Report>('loading/two-copies', {
    copies: [index, join(folder, 'src/index.js')],
    url: chatUrl(stage),
    options: stage.options(),
  });
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await stage.close();
});

it('two copies of the package wrap fetch once', () => {
  expect(report).toMatchObject({ different: true, wrappedOnce: true });
});

it('a call in a scope of either copy is captured once', () => {
  const { first, second, outside } = report.steps;
  expect(first).toMatchObject({ captured: 1, result: { source: 'batch' } });
  expect(second).toMatchObject({ captured: 1, result: { source: 'batch' } });
  expect(outside).toMatchObject({ captured: 0, result: { source: null } });
});

it('copies share the run: the same question in each is two samples', () => {
  expect(report.steps.second.result.text).not.toBe(report.steps.first.result.text);
});

it('a scope of one copy inside a scope of the other captures alone', () => {
  expect(report.steps.nested).toMatchObject({ captured: 1, result: { source: 'batch' } });
  expect(report.outerCaptured).toBe(0);
});

it('realtime of one copy works in a scope of the other', () => {
  expect(report.steps.realtime).toMatchObject({ captured: 0, result: { source: null } });
});

it('an error of one copy is recognised by the other', () => {
  expect(report.error).toEqual({ own: false, marked: true });
});

it('nothing was paid twice', () => {
  expect(stage.simulator.meter).toMatchObject({ total: 5, batched: 3, realtime: 2 });
});
