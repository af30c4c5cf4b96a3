import { join } from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';
import { apiPage, entryFiles } from '../../scripts/api-doc.ts';
import { allBlocks, type CodeBlock, readPage, root } from './code-blocks.ts';

const blocks = allBlocks(['ts']).filter(({ pieceOf }) => pieceOf === undefined);

/** Where a block would lie if its reader had followed the page. */
function pathOf({ file, place }: CodeBlock): string {
  if (file?.includes('/')) return join(root, file);
  const folder = join(root, 'test/docs/shown');
  return file ? join(folder, file) : join(folder, `${place.replaceAll(/\W/g, '-')}.ts`);
}

const shown = new Map(blocks.map((block) => [pathOf(block), block]));
// The one program of both tests: it takes seconds.
const program = createProgram();

function createProgram(): ts.Program {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile } = host;
  host.fileExists = (path) => shown.has(path) || fileExists(path);
  // Without an import or an export it would be no module, and two blocks could not declare the same name.
  host.readFile = (path) => {
    const block = shown.get(path);
    return block === undefined ? readFile(path) : `${block.code}\nexport {};\n`;
  };
  host.directoryExists = () => true;
  const surroundings = join(root, 'test/docs/surroundings.ts');
  return ts.createProgram([surroundings, ...entryFiles, ...shown.keys()], options, host);
}

it('every TypeScript block of README and docs has the right types', () => {
  const problems = [...shown].flatMap(([path, { place }]) => {
    const source = program.getSourceFile(path);
    return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)]
      .filter(({ file }) => file === source)
      .map(({ messageText, start = 0 }) => {
        const line = (source?.getLineAndCharacterOfPosition(start).line ?? 0) + 1;
        return `${place}, line ${line}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
      });
  });
  expect(problems).toEqual([]);
});

it('docs/api.md says what the comments of the code say', () => {
  expect(readPage('docs/api.md')).toBe(apiPage(program));
});
