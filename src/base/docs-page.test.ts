import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { docsPage } from './docs-page.ts';

afterEach(() => vi.restoreAllMocks());

it.each(['options.md', 'clients.md', 'gateway.md'])(
  'names a page that can be opened: %s',
  (name) => {
    expect(existsSync(resolve(docsPage(name)))).toBe(true);
  },
);

it('names it in full from another folder', () => {
  vi.spyOn(process, 'cwd').mockReturnValue('/somewhere/else');
  expect(existsSync(docsPage('options.md'))).toBe(true);
});

it('names a URL where the package has no such file', () => {
  expect(docsPage('absent.md')).toMatch(/^https:\/\/.*\/docs\/absent\.md$/);
});
