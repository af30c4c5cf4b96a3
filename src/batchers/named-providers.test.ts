import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { builtInInfos } from './registry.ts';

const source = fileURLToPath(new URL('..', import.meta.url));

/** Files outside of the providers' folders that name one, each with its reason. */
const exceptions: Readonly<Record<string, string>> = {
  'batchers/registry.ts': 'the one list of providers',
  'cli/commands/demo.ts': 'the demo is a program for one provider',
  'cli/commands/simulate.ts': 'shows two SDKs how to find the simulator',
  'cli/doctor/redactor.ts': 'knows keys by what they begin with',
  'cli/map/map-flags.ts':
    'names the forms of input, which are called after the batch files of three providers',
  'map/input/detect-format.ts': 'tells those forms apart by their first line',
  'map/lines/choose-format.ts': 'chooses among those forms',
  'map/lines/line-format.ts': 'lists those forms',
  'map/lines/provider-lines.ts': 'reads and writes those forms',
  'map/lines/wire-forms.ts': 'makes bodies in the four wires of a prompt',
  'gateway/hints/webhook-handler.ts': 'takes the webhooks of two providers, each at its own path',
  'gateway/hints/with-webhooks.ts': 'asks one provider for webhooks at each create',
  'otel/semantic-names.ts': 'has the names that the conventions of OpenTelemetry give to providers',
  'gateway/waiting/waiting-response.ts': 'knows SDKs by their user agents, and what each bears',
  'options/shown-value.ts': 'knows keys by what they begin with',
};

/** Folders of providers, the simulator and tests. */
const mayName = /^(batchers\/(?!shared\/|placeholders\/)[^/]+|simulator)\/|\.test(-helper)?\.ts$/;
const names = builtInInfos.map(({ name }) => name);
const named = new RegExp(`\\b(?:${names.join('|')})\\b`, 'i');

/** What stands in quotes, in regular expressions and before colons. Sentences for people may name whom they like. */
function namesIn(code: string): string[] {
  const tree = ts.createSourceFile('code.ts', code, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const look = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return;
    const isKey = ts.isIdentifier(node) && ts.isPropertyAssignment(node.parent);
    if (isKey || ts.isLiteralExpression(node) || ts.isTemplateLiteralToken(node)) {
      if (named.test(node.text) && !/\s/.test(node.text)) found.push(node.text);
    }
    ts.forEachChild(node, look);
  };
  look(tree);
  return found;
}

const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => file.endsWith('.ts') && !mayName.test(file));

describe('a provider is named in its own folder and in the registry', () => {
  it('and nowhere else, but for exceptions with a reason', () => {
    const found = files.filter(
      (file) => namesIn(readFileSync(join(source, file), 'utf8')).length > 0,
    );
    expect(found.toSorted()).toEqual(Object.keys(exceptions).toSorted());
  });

  it.each([
    ["if (info.name === 'openai') return;", 'openai'],
    ["const models = { groq: 'llama' };", 'groq'],
    ["const models = { 'groq': 'llama' };", 'groq'],
    ['const url = `mistral/`;', 'mistral/'],
    ['const known = /^(xai|other)$/;', '/^(xai|other)$/'],
    ["const wire = { title: 'Anthropic' };", 'Anthropic'],
  ])('%s is seen', (code, text) => {
    expect(namesIn(code)).toEqual([text]);
  });

  it.each([
    "import { openaiInfo } from './openai/openai-info.ts';",
    '// openai is an example',
    "refuse(value, 'not a provider, such as openai');",
    "const word = 'openaiish';",
  ])('%s is not', (code) => {
    expect(namesIn(code)).toEqual([]);
  });
});
