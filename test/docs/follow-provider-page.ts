import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { blocksOf, readPage, root } from './code-blocks.ts';

const page = 'docs/adding-a-provider.md';

/** A file of the list that a line goes into, and the text before which it goes. */
const lists = [
  {
    path: 'src/batchers/registry.ts',
    line: /^ {2}\[nimbusInfo/,
    before: /^\] as const satisfies/m,
  },
  { path: 'src/simulator/providers.ts', line: /^ {2}nimbus: /, before: /^} satisfies/m },
];

/** Files of the repository that the table of the page names. */
export const named: readonly string[] = [...readPage(page).matchAll(/^\| `(\S+\/\S+)` \|/gm)].map(
  ([, path = '']) => path,
);

/** Does in a copy of the repository what the page says. Returns the files that it has written. */
export async function followPage(copy: string): Promise<string[]> {
  for (const part of ['src', 'examples', 'scripts', 'docs', 'package.json', 'tsconfig.json']) {
    await cp(join(root, part), join(copy, part), { recursive: true });
  }
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));
  const written: string[] = [];
  const write = async (path: string, text: string) => {
    await mkdir(dirname(join(copy, path)), { recursive: true });
    await writeFile(join(copy, path), text);
    written.push(path);
  };
  const blocks = blocksOf(page);
  for (const { file, code } of blocks) if (file?.includes('/')) await write(file, code);
  for (const { path, line, before } of lists) {
    const piece = blocks.find(({ pieceOf, code }) => pieceOf && line.test(code))?.code ?? '';
    const text = await readFile(join(root, path), 'utf8');
    const [name = ''] = /nimbus(Info|Description)/.exec(piece) ?? [];
    const [, added] = new RegExp(`\`(import \\{ ${name} \\}[^\`]+)\``).exec(readPage(page)) ?? [];
    await write(path, `${added}\n${text.replace(before, (end) => `${piece}${end}`)}`);
  }
  return written;
}
