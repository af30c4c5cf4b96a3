import { expect, it } from 'vitest';
import { printedValue } from './printed-value.ts';

const circle: Record<string, unknown> = { name: 'circle' };
circle.self = circle;

it.each([
  ['nothing for undefined', undefined, ''],
  ['a text as it is', 'as "it" is', 'as "it" is\n'],
  ['JSON', { a: [1, null] }, '{\n  "a": [\n    1,\n    null\n  ]\n}\n'],
  ['what JSON cannot hold', 5n, '5n\n'],
  ['a symbol', Symbol('s'), 'Symbol(s)\n'],
])('prints %s', (_, value, text) => {
  expect(printedValue(value)).toBe(text);
});

it('prints an object that holds itself', () => {
  expect(printedValue(circle)).toContain("name: 'circle'");
});
