import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, it } from 'vitest';
import { pages, readPage, root } from './code-blocks.ts';

/** Targets of links, without those in code. */
function linksOf(page: string): string[] {
  const text = readPage(page)
    .replaceAll(/^```[\s\S]*?^```$/gm, '')
    .replaceAll(/`[^`\n]*`/g, '');
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
}

/** Names that a link into a page may have after `#`, as GitHub makes them of its headings. */
function anchorsOf(page: string): string[] {
  const text = readPage(page);
  const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
  return [...headings, ...[...text.matchAll(/<a id="([^"]+)"/g)].map(([, id = '']) => id)];
}

it.each(pages)('links of %s lead somewhere', (page) => {
  const broken = linksOf(page).filter((target) => {
    if (/^https?:/.test(target)) return false;
    const [path = '', anchor] = target.split('#');
    const file = path === '' ? page : normalize(join(dirname(page), path));
    if (!existsSync(join(root, file))) return true;
    return anchor !== undefined && !anchorsOf(file).includes(anchor);
  });
  expect(broken).toEqual([]);
});

it('every page of docs/ is in its index', () => {
  const index = linksOf('docs/README.md').map((target) => join('docs', target.replace(/#.*/, '')));
  const missing = pages.filter((page) => page.startsWith('docs/') && page !== 'docs/README.md');
  expect(missing.filter((page) => !index.includes(page))).toEqual([]);
});
