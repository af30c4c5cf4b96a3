import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ownStatuses } from '../../src/orchestrator/answer/own-answer.ts';
import { readPage, root } from './code-blocks.ts';

const page = readPage('docs/errors.md');

/** The first cells of all rows that hold code. */
const rows = [...page.matchAll(/^\| `(\w+)` \|(?: (\d+) \|)?/gm)].map(([, name = '', status]) => {
  return { name, status };
});

it('docs/errors.md has every code of BatchlingError, and no other', () => {
  const source = readFileSync(join(root, 'src/base/errors.ts'), 'utf8');
  const [, union = ''] = /export type BatchlingErrorCode =([^;]+);/.exec(source) ?? [];
  const codes = [...union.matchAll(/'(\w+)'/g)].map(([, code]) => code);
  expect(codes.length).toBeGreaterThan(10);
  const shown = rows.filter(({ status }) => status === undefined).map(({ name }) => name);
  expect(shown.toSorted()).toEqual(codes.toSorted());
});

it('docs/errors.md has every type that a call can get, with its status', () => {
  const types = Object.entries(ownStatuses).map(([reason, status]) => {
    return { name: `batchling_${reason}`, status: String(status) };
  });
  const shown = rows.filter(({ status }) => status !== undefined);
  const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1);
  expect(shown.toSorted(byName)).toEqual(types.toSorted(byName));
});
