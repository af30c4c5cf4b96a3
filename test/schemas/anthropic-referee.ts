import { resolve } from 'node:path';
import ts from 'typescript';
import type { Recorded } from '../support/servers/recording-proxy.ts';

/*
 * Anthropic publishes no schema, but the types of its official client are generated from one. So the compiler
 * judges: everything that was said becomes a literal of the type it should have.
 */

const batch = 'Anthropic.Messages.MessageBatch';
const list = `{ data: ${batch}[]; has_more: boolean; first_id: string | null; last_id: string | null }`;

/** By method and path: what is asked, and what comes back. */
const operations: readonly (readonly [RegExp, string | undefined, string])[] = [
  [/^POST \/v1\/messages$/, undefined, 'Anthropic.Message'],
  [/^POST \/v1\/messages\/batches$/, 'Anthropic.Messages.BatchCreateParams', batch],
  [/^GET \/v1\/messages\/batches$/, undefined, list],
  [/^GET \/v1\/messages\/batches\/\w+$/, undefined, batch],
  [/^POST \/v1\/messages\/batches\/\w+\/cancel$/, undefined, batch],
  [/^DELETE \/v1\/messages\/batches\/\w+$/, undefined, 'Anthropic.Messages.DeletedMessageBatch'],
  [
    /^GET \/v1\/messages\/batches\/\w+\/results$/,
    undefined,
    'Anthropic.Messages.MessageBatchIndividualResponse',
  ],
];

/** What is wrong with these exchanges, in the compiler's words. Paths stand below `mount`. */
export function anthropicFaults(exchanges: readonly Recorded[], mount: string): readonly string[] {
  const faults: string[] = [];
  const literals: string[] = [];
  for (const { method, path, body, reply } of exchanges) {
    const name = `${method} ${path.slice(mount.length).split('?')[0]}`;
    const operation = operations.find(([pattern]) => pattern.test(name));
    if (operation === undefined) {
      faults.push(`${name}: no such operation`);
      continue;
    }
    const [, asked, answered] = operation;
    if (asked !== undefined) literals.push(literal(asked, body));
    if (reply === undefined) continue;
    const type = reply.status < 400 ? answered : 'Anthropic.ErrorResponse';
    const texts = name.endsWith('/results') ? reply.body.trim().split('\n') : [reply.body];
    literals.push(...texts.map((text) => literal(type, text)));
  }
  return [...faults, ...compilerFaults([...new Set(literals)])];
}

function literal(type: string, json: string): string {
  return `satisfied<${type}>(${json});`;
}

function compilerFaults(literals: readonly string[]): readonly string[] {
  const source = [
    "import type Anthropic from '@anthropic-ai/sdk';",
    'declare function satisfied<T>(value: T): void;',
    ...literals,
  ].join('\n');
  // It is not on the disk, but the compiler looks for the client from here.
  const file = resolve('test/schemas/said.ts');
  const options: ts.CompilerOptions = {
    target: ts.ScriptTarget.ESNext,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists, readFile } = host;
  host.fileExists = (name) => name === file || fileExists(name);
  host.readFile = (name) => (name === file ? source : readFile(name));
  host.getSourceFile = (name, version, ...rest) =>
    name === file
      ? ts.createSourceFile(name, source, version)
      : getSourceFile(name, version, ...rest);
  const program = ts.createProgram([file], options, host);
  const found = [...program.getSyntacticDiagnostics(), ...program.getSemanticDiagnostics()];
  return found
    .filter((fault) => fault.file?.fileName === file)
    .map((fault) => {
      const line = fault.file?.getLineAndCharacterOfPosition(fault.start ?? 0).line ?? 0;
      const message = ts.flattenDiagnosticMessageText(fault.messageText, ' ');
      return `${message} :: ${source.split('\n')[line]?.slice(0, 200)}`;
    });
}
