import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { root } from './code-blocks.ts';

const read = (path: string) => readFileSync(join(root, path), 'utf8');

it('the workflow of GitHub does what .ci/run does', () => {
  const here = [...read('.ci/run').matchAll(/^npm .*$/gm)].map(([command]) => command);
  const there = [...read('.github/workflows/ci.yml').matchAll(/- run: (npm .*)$/gm)];
  expect(here.length).toBeGreaterThan(4);
  expect(there.map(([, command]) => command)).toEqual(expect.arrayContaining(here));
});
