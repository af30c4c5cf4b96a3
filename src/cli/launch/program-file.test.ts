import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { programFile } from './program-file.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'batchling-program-'));
  mkdirSync(join(folder, 'lib'));
  for (const name of ['modern.ts', 'odd:name.mjs', 'tool']) writeFileSync(join(folder, name), '');
  writeFileSync(join(folder, 'tool.sample'), '#!/usr/bin/env node\n');
  writeFileSync(join(folder, 'shell'), '#!/bin/sh\n');
  writeFileSync(join(folder, 'ask.py'), 'print(1)\n');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it.each([
  ['modern.ts', 'modern.ts', undefined],
  ['modern.ts:main', 'modern.ts', 'main'],
  ['odd:name.mjs', 'odd:name.mjs', undefined],
  ['odd:name.mjs:main', 'odd:name.mjs', 'main'],
  ['tool', 'tool', undefined],
  ['tool.sample', 'tool.sample', undefined],
])('takes %s apart', (given, file, exportName) => {
  expect(programFile(join(folder, given))).toEqual({ path: join(folder, file), exportName });
});

it.each([
  ['a slip', 'mdoern.ts', /there is no file .*mdoern\.ts$/],
  ['a missing file with an export', 'gone.py:main', /there is no file .*gone\.py/],
  [
    'a script of a shell',
    'shell',
    /shell is not a JavaScript or TypeScript file.* batchling serve/,
  ],
  ['Python with an export', 'ask.py:main', /ask\.py is not a JavaScript or TypeScript file/],
  ['a folder', 'lib', /lib is a folder; name a file in it/],
])('refuses %s', (_, given, told) => {
  expect(() => programFile(join(folder, given))).toThrow(told);
});
