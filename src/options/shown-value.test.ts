import { describe, expect, it } from 'vitest';
import { show } from './shown-value.ts';

describe('show', () => {
  it.each([
    ['A1b2C3d4E5f6G7h8I9j0K1'],
    ['sk-short'],
    ['AIzaSyShort'],
    ['Basic dXNlcjpwYXNz'],
    ['api_key=short'],
    ['https://me:short@h'],
    ['6f1ed002-ab55-95ac-9d3c-2f0a7d6c1e11'],
  ])('hides %s', (text) => {
    expect(show(text)).toBe('(not shown)');
    expect(show(`before ${text} after`)).toBe('(not shown)');
  });

  it.each<[unknown, string]>([
    ['5 parsecs', '"5 parsecs"'],
    ['http://127.0.0.1:8000/v1', '"http://127.0.0.1:8000/v1"'],
    ['two\nlines', '"two\\nlines"'],
    ['- '.repeat(40), `"${'- '.repeat(19)}-…"`],
    [undefined, 'undefined'],
    [Symbol('secret'), 'a symbol'],
    [class Secret {}, 'a function'],
    [{ secret: 1 }, 'an object'],
    [new Map(), 'an object (Map)'],
    [new Date(0), 'a Date'],
  ])('shows %o in a few words', (value, expected) => {
    expect(show(value)).toBe(expected);
  });

  it('is quick with long text', () => {
    // So long that work which grows faster than the text would outlast any time limit.
    for (const piece of ['a', '1', '-', '://', 'key ', '\n']) {
      expect(show(piece.repeat(3_000_000)).length).toBeLessThan(60);
    }
  });
});
