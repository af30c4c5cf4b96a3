import { stripVTControlCharacters } from 'node:util';
import { expect, it } from 'vitest';
import { bar } from './bar.ts';
import { painter } from './line-output.ts';

it('shows what there is in shape, however little it is', () => {
  expect(bar({ done: 5, failed: 0, running: 5, waiting: 0 }, 10)).toBe('█████▒▒▒▒▒');
  expect(bar({ done: 9_998, failed: 1, running: 1, waiting: 0 }, 10)).toBe('████████×▒');
  expect(bar({ done: 0, failed: 1, running: 9_998, waiting: 1 }, 8)).toBe('×▒▒▒▒▒▒·');
  expect(bar({ done: 0, failed: 0, running: 0, waiting: 0 }, 8)).toBe('········');
  expect(bar({ done: 3, failed: 0, running: 0, waiting: 0 }, 8)).toBe('████████');
});

it('has colours where the terminal has some, and takes no more columns with them', () => {
  const stream = { isTTY: true, write: () => true };
  const line = `  gpt-5  ${bar({ done: 4, failed: 2, running: 2, waiting: 2 }, 10)}  4 of 10  2 failed`;
  const painted = painter(stream)(line);
  expect(painted).toContain('\u001b[32m████\u001b[39m\u001b[31m××\u001b[39m');
  expect(painted).toContain('\u001b[31m2 failed\u001b[39m');
  expect(stripVTControlCharacters(painted)).toBe(line);
});
