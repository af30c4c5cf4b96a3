// Prints docs/api.md from the TSDoc of the public entries: `npm run docs:api`.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The entries of the package, and whether each export gets a part of its own or a row of a table. */
const entries = [
  { name: 'batchling', file: 'src/index.ts', isWhole: true },
  { name: 'batchling/core', file: 'src/core.ts', isWhole: false },
  { name: 'batchling/register', file: 'src/register.ts', isWhole: false },
  { name: 'batchling/simulator', file: 'src/simulator/index.ts', isWhole: true },
  { name: 'batchling/batchers', file: 'src/batchers/index.ts', isWhole: false },
  { name: 'batchling/otel', file: 'src/otel/index.ts', isWhole: true },
] as const;

export const entryFiles: readonly string[] = entries.map(({ file }) => join(root, file));

/** The page, as it must stand in docs/api.md. */
export function apiPage(program: ts.Program): string {
  const parts = entries.flatMap((entry) => [
    `## \`${entry.name}\``,
    '',
    ...entryPart(program, entry),
  ]);
  return [
    '# API',
    '',
    'Made from the comments of the code (`npm run docs:api`). All options are in [options.md](options.md), the events in',
    '[events.md](events.md), the errors in [errors.md](errors.md).',
    '',
    ...parts,
  ].join('\n');
}

/** An entry, with what it exports. */
interface Entry {
  readonly name: string;
  readonly exported: ReadonlyMap<string, ts.Symbol>;
}

function entryPart(
  program: ts.Program,
  { name: entryName, file, isWhole }: (typeof entries)[number],
): string[] {
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(join(root, file));
  const module = source && checker.getSymbolAtLocation(source);
  const about = source ? moduleComment(source) : '';
  const exported = (module ? checker.getExportsOfModule(module) : [])
    .map((symbol) => [symbol.name, resolved(checker, symbol)] as const)
    .toSorted(([a], [b]) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1));
  const intro = about === '' ? [] : [about, ''];
  if (exported.length === 0) return intro;
  if (isWhole) {
    const entry = { name: entryName, exported: new Map(exported) };
    return [...intro, ...exported.flatMap(([name, symbol]) => whole(checker, name, symbol, entry))];
  }
  const rows = exported.map(([name, symbol]) => {
    return `| \`${name}\` | ${kindOf(symbol)} | ${oneLine(docOf(checker, symbol))} |`;
  });
  return [...intro, '| export | kind | what it is |', '| --- | --- | --- |', ...rows, ''];
}

/** An export with its declaration, its comment and its examples; then its members. */
function whole(checker: ts.TypeChecker, name: string, symbol: ts.Symbol, entry: Entry): string[] {
  const members = membersOf(checker, symbol);
  return [
    `### \`${name}\``,
    '',
    ...paragraph(docOf(checker, symbol)),
    ...declaration(checker, symbol),
    ...examplesOf(symbol).flatMap((code) => ['```ts', withImport(code, entry), '```', '']),
    ...(members.length > 0 ? ['| member | what it is |', '| --- | --- |', ...members, ''] : []),
  ];
}

/** Signatures of functions; members of the others stand in their table. */
function declaration(checker: ts.TypeChecker, symbol: ts.Symbol): string[] {
  const [node] = symbol.declarations ?? [];
  if (node === undefined || ts.isClassDeclaration(node) || ts.isInterfaceDeclaration(node))
    return [];
  if (ts.isTypeAliasDeclaration(node))
    return ['```', node.getText().replace(/^export /, ''), '```', ''];
  const signatures = checker.getTypeOfSymbolAtLocation(symbol, node).getCallSignatures();
  if (signatures.length === 0) return [];
  return [
    '```',
    ...signatures.map((each) => symbol.name + signatureText(checker, each)),
    '```',
    '',
  ];
}

function signatureText(checker: ts.TypeChecker, signature: ts.Signature): string {
  return checker.signatureToString(signature, undefined, ts.TypeFormatFlags.NoTruncation);
}

function membersOf(checker: ts.TypeChecker, symbol: ts.Symbol): string[] {
  const [node] = symbol.declarations ?? [];
  if (node === undefined || !(ts.isClassDeclaration(node) || ts.isInterfaceDeclaration(node)))
    return [];
  return node.members.flatMap((member) => {
    const isHidden = member.name === undefined || ts.isPrivateIdentifier(member.name);
    if (isHidden || ts.isConstructorDeclaration(member)) return [];
    const named = checker.getSymbolAtLocation(member.name);
    const doc = named === undefined ? '' : oneLine(docOf(checker, named));
    return `| \`${cell(shortText(member))}\` | ${doc} |`;
  });
}

/** A member as it is declared, without its body. */
function shortText(member: ts.ClassElement | ts.TypeElement): string {
  const body = 'body' in member ? (member.body as ts.Node | undefined) : undefined;
  const text = member.getText();
  const head = body === undefined ? text : text.slice(0, body.getFullStart() - member.getStart());
  return (
    head
      .replaceAll(/\s+/g, ' ')
      .replaceAll(/\/\*\*.*?\*\/ /g, '')
      .replaceAll('( ', '(')
      .replaceAll(/, \)/g, ')')
      // An option that is not given and one that is undefined are the same.
      .replace(/ \| undefined(;?)$/, '$1')
      .replace(/^(override |async |readonly |static )+/, '')
      .replace(/;$/, '')
  );
}

function kindOf(symbol: ts.Symbol): string {
  const { flags } = symbol;
  if (flags & ts.SymbolFlags.Class) return 'class';
  if (flags & (ts.SymbolFlags.Interface | ts.SymbolFlags.TypeAlias)) return 'type';
  return flags & ts.SymbolFlags.Function ? 'function' : 'value';
}

function resolved(checker: ts.TypeChecker, symbol: ts.Symbol): ts.Symbol {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
}

function docOf(checker: ts.TypeChecker, symbol: ts.Symbol): string {
  return ts.displayPartsToString(symbol.getDocumentationComment(checker));
}

function examplesOf(symbol: ts.Symbol): string[] {
  return symbol
    .getJsDocTags()
    .filter(({ name }) => name === 'example')
    .map(({ text }) =>
      ts
        .displayPartsToString(text)
        .replaceAll(/^```(ts)?$/gm, '')
        .trim(),
    );
}

/** The example with what it needs of its entry, so that it can be pasted. */
function withImport(code: string, { name, exported }: Entry): string {
  if (code.includes('import ')) return code;
  const text = code.replaceAll(/\/\/.*$/gm, '').replaceAll(/'[^']*'/g, '');
  const used = [...exported].flatMap(([each, symbol]) => {
    if (!new RegExp(`(?<!\\w|[^.]\\.)${each}\\b`).test(text)) return [];
    return kindOf(symbol) === 'type' ? `type ${each}` : each;
  });
  return used.length === 0 ? code : `import { ${used.join(', ')} } from '${name}';\n\n${code}`;
}

/** What the comment with `@module` says. */
function moduleComment(source: ts.SourceFile): string {
  const [, text = ''] = /^\/\*\*([\s\S]*?)@module/.exec(source.text) ?? [];
  return text.replaceAll(/^ ?\* ?/gm, '').trim();
}

function paragraph(text: string): string[] {
  return text === '' ? [] : [text, ''];
}

function oneLine(text: string): string {
  return cell(text.replaceAll(/\s+/g, ' '));
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  process.stdout.write(apiPage(ts.createProgram([...entryFiles], options)));
}
