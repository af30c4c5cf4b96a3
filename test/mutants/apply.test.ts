import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { mutants } from './mutants.ts';

describe('the list of mutants', () => {
  it.each(mutants)('finds what it changes: $name', async ({ file, search }) => {
    const source = await readFile(new URL(`../../${file}`, import.meta.url), 'utf8');
    expect(source).toContain(search);
  });
});
