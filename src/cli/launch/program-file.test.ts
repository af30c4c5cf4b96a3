import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { programFile } from './program-file.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'batchling-program-'));
  mkdirSync(join(folder, 'lib'));
  for (const name of ['modern.ts', 'odd:name.mjs']) writeFileSync(join(folder, name), '');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it.each([
  ['modern.ts', 'modern.ts', undefined],
  ['modern.ts:main', 'modern.ts', 'main'],
  ['odd:name.mjs', 'odd:name.mjs', undefined],
  ['odd:name.mjs:main', 'odd:name.mjs', 'main'],
])('takes %s apart', (given, file, exportName) => {
  expect(programFile(join(folder, given))).toEqual({ path: join(folder, file), exportName });
});

it.each([
  ['a slip', 'mdoern.ts', /there is no file .*mdoern\.ts\n\(Did you mean .*modern\.ts\?\)/],
  ['a missing ending', 'modern', /\(Did you mean .*modern\.ts\?\)/],
  ['a missing file with an export', 'gone.py:main', /there is no file .*gone\.py/],
  ['a folder', 'lib', /lib is a folder; name a file in it/],
])('refuses %s', (_, given, told) => {
  expect(() => programFile(join(folder, given))).toThrow(told);
});
