import { describe, expect, it } from 'vitest';
import { redactBody } from './redact-body.ts';
import { redact } from './target.ts';

const key = 'sk-a/b+c"d';
const without = (body: string) => redactBody(body, (text) => redact(text, [key, 'true', '1234']));

describe('a body that echoes a credential', () => {
  it('loses it wherever it stands', () => {
    const body = JSON.stringify({ error: { message: `No ${key}!`, [key]: [key, { at: key }] } });
    expect(JSON.parse(without(body))).toEqual({
      error: { message: 'No [redacted]!', '[redacted]': ['[redacted]', { at: '[redacted]' }] },
    });
  });

  it('loses it however it is escaped', () => {
    const body = '{"message":"No sk-a\\/b\\u002bc\\"d!"}';
    expect(without(body)).toBe('{"message":"No [redacted]!"}');
  });

  it('loses it where it is no JSON', () => {
    expect(without(`<b>${key}</b>`)).toBe('<b>[redacted]</b>');
  });

  it('loses it at any depth', () => {
    const depth = 100_000;
    const body = `${'['.repeat(depth)}"1234"${']'.repeat(depth)}`;
    expect(without(body)).not.toContain('1234');
  });
});

describe('a body that echoes none', () => {
  it.each([
    '{ "n": 12345678901234567890, "2": 1, "1": 1.0, "text": "caf\\u00e9" }',
    '{"retryable":true,"code":1234}',
    'null',
    '',
  ])('stays as it came: %s', (body) => {
    expect(without(body)).toBe(body);
  });
});
