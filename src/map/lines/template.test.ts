import { describe, expect, it } from 'vitest';
import { jsonTemplate } from './template.ts';

const row =
  '{"facts":{"2": 9007199254740993123,"1":[1.0]},"size":1.50,"is":true,"no":null,"text":"\\"{{is}}\\""}';

function filled(body: Record<string, unknown>, typed: boolean): string {
  const literal = body.schema as Record<string, unknown> | undefined;
  const found = jsonTemplate(body, { typed, literal }).fill(JSON.parse(row), row);
  return 'text' in found ? found.text : `missing: ${found.missing}`;
}

describe('a body with columns', () => {
  const columns = ['{{facts}}', '{{ size }}', '{{is}}', '{{no}}', '{{text}}'];

  it('takes values as the row has them', () => {
    expect(filled({ columns }, true)).toBe(
      '{"columns":[{"2": 9007199254740993123,"1":[1.0]},1.50,true,null,"\\"{{is}}\\""]}',
    );
  });

  it('has them as text where it is no body of the user', () => {
    expect(filled({ columns }, false)).toBe(
      '{"columns":["{\\"2\\": 9007199254740993123,\\"1\\":[1.0]}","1.50","true","","\\"{{is}}\\""]}',
    );
  });

  it('leaves a literal part of it alone', () => {
    expect(filled({ 'is {{is}}': '{{size}}', schema: { pattern: '{{is}}' } }, false)).toBe(
      '{"is true":"1.50","schema":{"pattern":"{{is}}"}}',
    );
  });

  it('names the column that is missing', () => {
    expect(filled({ a: '{{facts}} {{other}}' }, true)).toBe('missing: other');
  });
});
