import { expect, it } from 'vitest';
import fc from '../../../test/support/fast-check.ts';
import { createClockwork } from '../world/clockwork.ts';
import { countLines, readLines, toChunks } from './lines.ts';

it('reads lines the same, however the file is cut into chunks', () => {
  const anyLine = fc.constantFrom('', 'a', 'üä', '{"x":"ß"}', '\r');
  fc.assert(
    fc.property(fc.array(anyLine), fc.integer({ min: 1, max: 5 }), (lines, size) => {
      const bytes = Buffer.from(lines.join('\n'));
      const chunks: Buffer[] = [];
      for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
      const expected = lines
        .map((text, index) => ({ line: index + 1, text: text.trim() }))
        .filter(({ text }) => text !== '');
      expect([...readLines(chunks)]).toEqual(expected);
      expect(countLines(chunks)).toBe(expected.length);
    }),
  );
});

it('writes lines that read back the same', async () => {
  const lines = Array.from({ length: 5000 }, (_, index) => `line ${index} ${'x'.repeat(50)}`);
  const chunks = await toChunks(lines, createClockwork());
  expect(chunks.length).toBeGreaterThan(1);
  expect([...readLines(chunks)].map(({ text }) => text)).toEqual(lines);
});
