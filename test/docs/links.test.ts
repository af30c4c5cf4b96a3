import { existsSync, readFileSync } from 'node:fs';
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

it('links of pages that are published stay inside of the package, or name the repository', () => {
  const { files, repository } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    files: string[];
    repository: { url: string };
  };
  const ours = `${repository.url.replace(/^git\+|\.git$/g, '')}/blob/main/`;
  const published = ['README.md', 'LICENSE', 'package.json', ...files];
  const broken = pages.flatMap((page) =>
    linksOf(page).flatMap((target) => {
      const [path = ''] = target.split('#');
      if (path.startsWith(ours))
        return existsSync(join(root, path.slice(ours.length))) ? [] : target;
      if (path === '' || /^https?:/.test(path)) return [];
      const file = normalize(join(dirname(page), path));
      return published.includes(file.split('/')[0] as string) ? [] : `${page}: ${target}`;
    }),
  );
  expect(broken).toEqual([]);
});

it('every page of docs/ is in its index', () => {
  const index = readPage('docs/README.md');
  const others = pages.filter((page) => page.startsWith('docs/') && page !== 'docs/README.md');
  expect(others.filter((page) => !index.includes(page.replace('docs/', '')))).toEqual([]);
});

/** What is in backticks and begins like a path of the repository; `*`, `…` and the like stand for many. */
function pathsOf(page: string): string[] {
  const named = readPage(page).matchAll(/`((?:src|test|scripts|examples|bench)\/[\w./-]+)`/g);
  return [...named].map(([, path = '']) => path);
}

it.each(pages)('files and folders that %s names are there', (page) => {
  // Providers that these walks add are in no repository.
  const isInvented = (path: string) => /\b(nimbus|cirrus)\b/.test(path);
  const missing = pathsOf(page).filter(
    (path) => !isInvented(path) && !existsSync(join(root, path)),
  );
  expect(missing).toEqual([]);
});
