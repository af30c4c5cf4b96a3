import { describe, expect, it } from 'vitest';
import { splitMember } from './split-member.ts';

/** What is read of a text that comes in pieces of this many bytes. */
async function read(text: string, size: number) {
  const bytes = Buffer.from(text);
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }
  const elements: string[] = [];
  let rest = '';
  for await (const piece of splitMember(chunks(), 'results')) {
    if ('elements' in piece) elements.push(...piece.elements);
    else rest = piece.rest;
  }
  return { elements, rest };
}

const tricky = [
  '{"id": "a", "note": "\\"results\\": [1]", "nested": {"results": [0]}, "list": ["results", [1]],',
  ' "results" : [ {"a": "]},\\\\"}, [1, 2], "ä, \\u005d \\"", 12345678901234567890, null ] , "error": null}',
].join('\n');

describe('an object with a large array', () => {
  it.each([1, 2, 3, 7, 64, 10_000])('is cut in pieces that come by %i bytes', async (size) => {
    const { elements, rest } = await read(tricky, size);
    expect(elements).toEqual([
      '{"a": "]},\\\\"}',
      '[1, 2]',
      '"ä, \\u005d \\""',
      '12345678901234567890',
      'null',
    ]);
    expect(JSON.parse(rest)).toEqual({ ...JSON.parse(tricky), results: [] });
  });

  it.each([
    ['null in its place', '{"id":"a","results":null}'],
    ['an empty array', '{"results":[ ]}'],
    ['an object in its place', '{"results":{"a":[1]},"more":[2]}'],
    ['another member', '{"resultss":[1],"a":"results"}'],
  ])('that has %s has no elements', async (_what, text) => {
    const { elements, rest } = await read(text, 3);
    expect(elements).toEqual([]);
    expect(JSON.parse(rest)).toEqual(JSON.parse(text));
  });

  it.each(['', '<html>"results": [1, 2]</html>', '[]', '{"results":[{"a":1}'])(
    'that is none (%s) is told as it came, without what was complete',
    async (text) => {
      const { elements, rest } = await read(text, 5);
      expect(elements).toEqual([]);
      expect(text.startsWith(rest)).toBe(true);
    },
  );
});
