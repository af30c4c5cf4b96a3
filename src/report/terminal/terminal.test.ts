import { describe, expect, it } from 'vitest';
import { canDraw, isCi, printable, truncated, usesColor, widthOf, wrapped } from './terminal.ts';

const terminal = { isTTY: true, write: () => true };
const file = { write: () => true };

describe('the width of a text', () => {
  it.each([
    ['plain', 5],
    ['naïve', 5],
    ['nai\u0308ve', 5],
    ['模型', 4],
    ['한국', 4],
    ['a🚀b', 4],
    ['“…”', 3],
    ['', 0],
  ])('%s takes %i columns', (text, columns) => {
    expect(widthOf(text)).toBe(columns);
  });

  it('is never more than asked for once it is truncated', () => {
    expect(truncated('a model', 7)).toBe('a model');
    expect(truncated('a model', 6)).toBe('a mod…');
    expect(truncated('模型模型', 6)).toBe('模型…');
    for (let columns = 0; columns < 12; columns += 1) {
      expect(widthOf(truncated('a模b型🚀 and more', columns))).toBeLessThanOrEqual(columns);
    }
  });
});

it('lines end between words, and begin again further in', () => {
  expect(wrapped('one two three four', 9)).toEqual(['one two', '  three', '  four']);
  expect(wrapped('a /very/long/path', 8)).toEqual(['a', '  /very/long/path']);
  expect(wrapped('short', 80)).toEqual(['short']);
});

it('control characters of a message do not reach the terminal', () => {
  expect(printable('bad\u001b[2J\r\nmodel\u009b1m')).toBe('bad [2J model 1m');
});

describe('colours', () => {
  it.each([
    [terminal, {}, true],
    [file, {}, false],
    [terminal, { NO_COLOR: '1' }, false],
    [terminal, { NO_COLOR: '' }, true],
    [terminal, { TERM: 'dumb' }, false],
    [file, { FORCE_COLOR: '1' }, true],
    [terminal, { FORCE_COLOR: '0' }, false],
    [terminal, { FORCE_COLOR: '1', NO_COLOR: '1' }, true],
  ])('%# are as terminal and variables want it', (stream, environment, expected) => {
    expect(usesColor(stream, environment)).toBe(expected);
  });

  it('say nothing about drawing', () => {
    expect(canDraw(terminal, { NO_COLOR: '1' })).toBe(true);
    expect(canDraw(terminal, { TERM: 'dumb' })).toBe(false);
    expect(canDraw({ ...terminal, columns: 0 }, {})).toBe(false);
    expect(canDraw(file, { FORCE_COLOR: '1' })).toBe(false);
  });
});

it('CI is known by its variable', () => {
  expect([{}, { CI: '' }, { CI: 'false' }, { CI: '0' }].map((one) => isCi(one))).toEqual([
    false,
    false,
    false,
    false,
  ]);
  expect([{ CI: 'true' }, { CI: '1' }].every((one) => isCi(one))).toBe(true);
});
