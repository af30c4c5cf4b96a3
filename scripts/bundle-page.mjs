// Bundles the page of `batchling ui`: src/ui/browser and what it uses become one script and one style sheet. Its users get
// them with the package; run from the sources, the server of the page calls this.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = join(root, 'src/ui/browser');

/** In the order in which they apply. */
const styles = ['base', 'head', 'cards', 'batches', 'timeline', 'conversation', 'money', 'narrow'];

/** @returns {Promise<{ script: string, style: string }>} */
export async function bundlePage() {
  const bundler = await rolldown({
    cwd: root,
    input: join(folder, 'main.tsx'),
    platform: 'browser',
    tsconfig: join(root, 'tsconfig.page.json'),
  });
  const { output } = await bundler.generate({ format: 'esm', minify: true, codeSplitting: false });
  await bundler.close();
  const notice = '/* With preact (MIT license), Copyright (c) 2015-present Jason Miller. */\n';
  const sheets = styles.map((name) => readFile(join(folder, `styles/${name}.css`), 'utf8'));
  const style = smaller((await Promise.all(sheets)).join('\n'));
  return { script: notice + output[0].code, style };
}

/** Without comments, line ends, the last semicolons and the blanks around signs. Nothing else: the style sheet has no texts with blanks. */
function smaller(style) {
  return style
    .replace(/\/\*.*?\*\//gs, '')
    .replace(/\s+/g, ' ')
    .replace(/ ?([{};,>]) ?/g, '$1')
    .replace(/: /g, ':')
    .replace(/;}/g, '}')
    .trim();
}
