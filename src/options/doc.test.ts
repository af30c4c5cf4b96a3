import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { optionsPage } from '../../scripts/options-doc.ts';

it('docs/options.md says what the table of options says', async () => {
  const page = await readFile(new URL('../../docs/options.md', import.meta.url), 'utf8');
  expect(page).toBe(optionsPage());
});
