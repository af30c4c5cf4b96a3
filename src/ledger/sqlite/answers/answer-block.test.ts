import { describe, expect, it } from 'vitest';
import type { Answer } from '../../../base/types.ts';
import { decodeAnswer, encodeBlock } from './answer-block.ts';

function answer(headers: Record<string, string>, body: string): Answer {
  return { status: 200, headers, body };
}

function roundTrip(answers: [Answer, ...Answer[]]): Answer[] {
  const block = encodeBlock(answers);
  // As a row of the database: the next block is written over these bytes.
  const stored = { ...block, bytes: Uint8Array.from(block.bytes) };
  encodeBlock([answer({}, 'z'.repeat(1_000))]);
  return answers.map((_, place) => decodeAnswer(stored, place, answers.length));
}

describe('a block of answers', () => {
  it('gives back each body, whatever is in it', () => {
    const bodies = [
      '{"a":1}',
      '',
      'zero \0 character',
      'žluťoučký 🐎',
      'x'.repeat(2_000_000),
      'last',
    ];
    const answers = bodies.map((body) => answer({ 'content-type': 'application/json' }, body));
    expect(roundTrip(answers as [Answer, ...Answer[]])).toEqual(answers);
  });

  it('gives back headers that differ, are missing or are more than those of the first', () => {
    const answers: [Answer, ...Answer[]] = [
      answer({ type: 'json', id: '1', constructor: 'mine' }, 'one'),
      answer({ type: 'json', id: '2', constructor: 'mine' }, 'two'),
      answer({ id: '3' }, 'three'),
      answer({ type: 'json', id: '4', extra: 'ž' }, 'four'),
      answer({}, 'five'),
    ];
    expect(roundTrip(answers)).toEqual(answers);
  });
});
