import { describe, expect, it } from 'vitest';
import fc from '../../test/support/fast-check.ts';
import { splitLines } from './jsonl.ts';

async function* stream(...chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

async function groupsOf(
  chunks: readonly (string | Uint8Array)[],
  options?: { maxLineBytes?: number },
): Promise<string[][]> {
  const groups: string[][] = [];
  const bytes = chunks.map((chunk) => (typeof chunk === 'string' ? Buffer.from(chunk) : chunk));
  for await (const lines of splitLines(stream(...bytes), options)) {
    groups.push(lines.map((line) => Buffer.from(line).toString('latin1')));
  }
  return groups;
}

async function linesOf(...chunks: readonly (string | Uint8Array)[]): Promise<string[]> {
  return (await groupsOf(chunks)).flat();
}

function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const ends = [...places.map((place) => place % (bytes.length + 1)), bytes.length];
  ends.sort((left, right) => left - right);
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

describe('splitLines', () => {
  it('gives the lines that a chunk completes as one group', async () => {
    expect(await groupsOf(['a\nb\nc', 'd\n', 'e', 'f\n\n'])).toEqual([['a', 'b'], ['cd'], ['ef']]);
  });

  it('counts a last line without a line break', async () => {
    expect(await linesOf('a\nb')).toEqual(['a', 'b']);
    expect(await linesOf()).toEqual([]);
  });

  it('drops carriage returns and blank lines', async () => {
    expect(await linesOf('a\r\n\r\n \t\r\nb\r', '\nc\r')).toEqual(['a', 'b', 'c']);
  });

  it('strips a byte order mark at the start only, even when it comes in pieces', async () => {
    const mark = Buffer.from([0xef, 0xbb, 0xbf]);
    expect(await linesOf(mark.subarray(0, 1), mark.subarray(1), 'a\n')).toEqual(['a']);
    expect(await linesOf(mark, '\r\n')).toEqual([]);
    expect(await linesOf(mark)).toEqual([]);
    expect(await linesOf('a\n', mark, 'b')).toEqual(['a', `${mark.toString('latin1')}b`]);
  });

  it('copies nothing where a line lies within one chunk', async () => {
    const chunk = new Uint8Array(Buffer.from('{"a":1}\r\n{"b":2}\n'));
    for await (const lines of splitLines(stream(chunk))) {
      expect(lines.map((line) => line.buffer === chunk.buffer)).toEqual([true, true]);
    }
  });

  it('respects the bounds of a chunk that is itself a view', async () => {
    expect(await linesOf(Buffer.from('xx\na\nb\nyy').subarray(3, 6))).toEqual(['a', 'b']);
  });

  it('gives the beginning of a line that is too long, and reads on', async () => {
    const long = 'x'.repeat(5_000);
    const beginning = 'x'.repeat(200);
    const limit = { maxLineBytes: 1_000 };
    for (const chunks of [
      [`a\n${long}\nb\n`],
      ['a\nx', long.slice(2), 'x\nb'],
      ['a\n', ...long, '\n', 'b\n'],
    ]) {
      expect((await groupsOf(chunks, limit)).flat()).toEqual(['a', beginning, 'b']);
    }
    expect((await groupsOf(['a\n', long], limit)).flat()).toEqual(['a', beginning]);
    expect((await groupsOf([long, long], limit)).flat()).toEqual([beginning]);
    expect(await groupsOf(['12345\n1'], { maxLineBytes: 4 })).toEqual([['12345'], ['1']]);
  });

  it('takes a line of just the limit for what it is', async () => {
    expect(await groupsOf(['1234\n12', '34'], { maxLineBytes: 4 })).toEqual([['1234'], ['1234']]);
  });

  it('keeps nothing of a line that is too long', async () => {
    // Each chunk is longer than all that may be kept, so one that stays is seen at once.
    const chunkBytes = 1_000_000;
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (let at = 0; at < 300; at += 1) {
        yield Buffer.alloc(chunkBytes, 'x');
        most = Math.max(most, process.memoryUsage().arrayBuffers - before);
      }
      yield Buffer.from('\nb\n');
    }
    const lines: number[] = [];
    for await (const group of splitLines(endless(), { maxLineBytes: 10 * chunkBytes })) {
      lines.push(...group.map(({ length }) => length));
    }
    expect(lines).toEqual([200, 1]);
    expect(most).toBeLessThan(200 * chunkBytes);
  });

  it('passes the error of its source on', async () => {
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('a\nb');
      throw new Error('torn');
    }
    const seen: string[] = [];
    const reading = (async () => {
      for await (const lines of splitLines(broken())) seen.push(...lines.map(String));
    })();
    await expect(reading).rejects.toThrow('torn');
    expect(seen).toHaveLength(1);
  });

  it('gives the same lines for any way to cut the bytes', async () => {
    // Few different bytes, so that line breaks, carriage returns and marks are frequent.
    const byte = fc.constantFrom(0x0a, 0x0d, 0x20, 0x61, 0xef, 0xbb, 0xbf, 0xc3, 0xa9);
    await fc.assert(
      fc.asyncProperty(
        fc.array(byte, { maxLength: 60 }),
        fc.array(fc.nat(), { maxLength: 12 }),
        async (bytes, places) => {
          const whole = Uint8Array.from(bytes);
          const expected = Buffer.from(whole)
            .toString('latin1')
            .replace(/^\u00ef\u00bb\u00bf/, '')
            .split('\n')
            .map((line) => line.replace(/\r$/, ''))
            .filter((line) => !/^[ \t\r]*$/.test(line));
          expect(await linesOf(...cut(whole, places))).toEqual(expected);
        },
      ),
      { numRuns: 1_000 },
    );
  });
});
