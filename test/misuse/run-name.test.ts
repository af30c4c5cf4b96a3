import { afterEach, describe, expect, it, vi } from 'vitest';
import { batchify } from '../../src/core.ts';

afterEach(() => vi.unstubAllEnvs());

const allowed = '1 to 64 letters, digits, dots, dashes or underscores';

describe('a BATCHLING_RUN that is no plain name', () => {
  it.each([
    ['with space', '"with space"'],
    ['../up', '"../up"'],
    [' trimmed ', '" trimmed "'],
    ['x'.repeat(65), `"${'x'.repeat(39)}…"`],
    ['sk-live-123 456', '(not shown)'],
  ])('is refused by batchify() itself, with the name of the variable: %j', (name, shown) => {
    vi.stubEnv('BATCHLING_RUN', name);
    let refused: unknown;
    try {
      batchify({ store: ':memory:' });
    } catch (error) {
      refused = error;
    }
    expect(refused).toMatchObject({
      code: 'INVALID_OPTION',
      message: `Invalid variable BATCHLING_RUN: ${shown}. Allowed: ${allowed}.`,
      facts: { option: 'BATCHLING_RUN', allowed },
    });
    expect(() => batchify(() => 1)).toThrow(/BATCHLING_RUN/);
  });

  it('is none when it is empty', async () => {
    vi.stubEnv('BATCHLING_RUN', '');
    expect(await batchify(() => 1, { store: ':memory:' })).toBe(1);
  });
});
