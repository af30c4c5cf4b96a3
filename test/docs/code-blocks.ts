import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));

/** A block of code in a page that users read. */
export interface CodeBlock {
  /** Where it stands: `docs/scopes.md:12`. */
  readonly place: string;
  readonly page: string;
  readonly language: string;
  readonly code: string;
  /** The file that it shows, by its first line `// file: path`. */
  readonly file: string | undefined;
  /** Why it is not run, by the comment `<!-- not run: … -->` before it. It is type-checked all the same. */
  readonly notRun: string | undefined;
  /** What it is a piece of, by the comment `<!-- a piece of … -->`: it makes no sense alone. */
  readonly pieceOf: string | undefined;
}

/** The pages that users read. */
export const pages: readonly string[] = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

export function readPage(page: string): string {
  return readFileSync(join(root, page), 'utf8');
}

export function blocksOf(page: string): CodeBlock[] {
  const text = readPage(page);
  const pattern = /(?:<!-- (not run|a piece of):? (.*?) -->\n+)?^```(\w*)\n([\s\S]*?)^```$/gm;
  return [...text.matchAll(pattern)].map((match) => {
    const [whole, marker, reason, language = '', code = ''] = match;
    const line = text.slice(0, match.index + whole.indexOf('```')).split('\n').length;
    return {
      place: `${page}:${line}`,
      page,
      language,
      code,
      file: /^\/\/ file: (\S+)\n/.exec(code)?.[1],
      notRun: marker === 'not run' ? reason : undefined,
      pieceOf: marker === 'a piece of' ? reason : undefined,
    };
  });
}

export function allBlocks(languages: readonly string[]): CodeBlock[] {
  return pages.flatMap(blocksOf).filter(({ language }) => languages.includes(language));
}
