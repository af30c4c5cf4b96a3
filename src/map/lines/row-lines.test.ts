import { expect, it } from 'vitest';
import { rowLines } from './row-lines.ts';
import { jsonTemplate } from './template.ts';

const { read } = rowLines({
  path: '/chat/completions',
  body: jsonTemplate({ prompt: '{{text}}' }, { typed: false }),
  form: { answer: (json) => json },
  into: 'answer',
});

it.each([
  [{}, 'it has no column "text"'],
  [{ id: 1, ' text': 2 }, 'it has no column "text", only "id", " text"'],
  [{ [`${'a;'.repeat(30)}`]: 1 }, `it has no column "text", only "${'a;'.repeat(20)}…"`],
  [
    Object.fromEntries('abcdefghij'.split('').map((name) => [name, 1])),
    'it has no column "text", only "a", "b", "c", "d", "e", "f", "g", "h" and 2 more',
  ],
])('a row without a column is told with those that it has: %j', (row, bad) => {
  expect(read(JSON.stringify(row), 0)).toEqual({ bad, id: '1' });
});
