import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { providersPage } from '../../scripts/providers-doc.ts';
import { registeredBatchers } from './registry.ts';

it('docs/providers.md says what the batchers say', async () => {
  const page = await readFile(new URL('../../docs/providers.md', import.meta.url), 'utf8');
  expect(page).toBe(await providersPage());
});

it.each(registeredBatchers().map((registered) => [registered.name, registered] as const))(
  '%s has notes for the page',
  async (_name, registered) => {
    const { notes } = await registered.load();
    expect(notes?.title).toBeTruthy();
    expect(notes?.foundBy).toBeTruthy();
  },
);
