import { execFileSync } from 'node:child_process';
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

/** What npm would put into the package, but for what a build makes. */
const published: readonly string[] = JSON.parse(
  execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts', '--loglevel=silent'], {
    cwd: root,
    encoding: 'utf8',
  }),
)[0].files.map(({ path }: { path: string }) => path);

/** Whether a file, or something in a folder, is published. */
function isPublished(path: string): boolean {
  return published.some((file) => file === path || file.startsWith(`${path}/`));
}

const { repository } = JSON.parse(readPage('package.json')) as { repository: { url: string } };
const ours = `${repository.url.replace(/^git\+|\.git$/g, '')}/blob/main/`;
const isElsewhere = (target: string) => /^https?:/.test(target) && !target.startsWith(ours);

/** The file of the repository that a link leads to, and the place in it. */
function placeOf(page: string, target: string): [file: string, anchor: string | undefined] {
  const [path = '', anchor] = target.split('#');
  if (path.startsWith(ours)) return [path.slice(ours.length), anchor];
  return [path === '' ? page : normalize(join(dirname(page), path)), anchor];
}

it.each(pages)('links of %s lead somewhere', (page) => {
  const broken = linksOf(page).filter((target) => {
    if (isElsewhere(target)) return false;
    const [file, anchor] = placeOf(page, target);
    if (!existsSync(join(root, file))) return true;
    return anchor !== undefined && !anchorsOf(file).includes(anchor);
  });
  expect(broken).toEqual([]);
});

it('links of pages that are published stay inside of the package, or name the repository', () => {
  const broken = pages.filter(isPublished).flatMap((page) =>
    linksOf(page)
      .filter((target) => !/^https?:/.test(target) && !isPublished(placeOf(page, target)[0]))
      .map((target) => `${page}: ${target}`),
  );
  expect(broken).toEqual([]);
});

it('pages for the authors of batchling alone are not published', () => {
  const kept = pages.filter((page) => !isPublished(page));
  expect(kept).toEqual(['docs/decisions.md', 'docs/mutants.md']);
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
