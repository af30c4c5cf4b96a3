import { expect, it } from 'vitest';
import { wildcards } from './wildcards.ts';

it.each([
  ['a path as it stands', ['/messages'], '/', '/messages', true],
  ['no longer path', ['/messages'], '/', '/messages/batches', false],
  ['one segment', ['/models/*:embed'], '/', '/models/small-1.5:embed', true],
  ['not two segments', ['/models/*:embed'], '/', '/models/a/b:embed', false],
  ['not nothing', ['/models/*:embed'], '/', '/models/:embed', false],
  ['segments in several places', ['/p/*/l/*/run'], '/', '/p/one/l/two/run', true],
  ['a part of a host name', ['*.azure.com', '*-ai.example'], '.', 'eu-ai.example', true],
  ['not two parts of a host name', ['*.azure.com'], '.', 'a.b.azure.com', false],
  ['not a host that only ends so', ['*.azure.com'], '.', 'x.azure.com.evil.example', false],
  ['a dot only as a dot', ['*.azure.com'], '.', 'x.azureXcom', false],
] as const)('a pattern matches %s', (_what, patterns, boundary, text, matches) => {
  expect(wildcards(patterns, boundary)(text)).toBe(matches);
});
