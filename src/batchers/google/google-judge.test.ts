import { describe, expect, it } from 'vitest';
import { judgeCreate, judgeGoogle } from './google-judge.ts';

function reply(status: number, message: string, reason?: string) {
  const details = reason === undefined ? [] : [{ '@type': 'ErrorInfo', reason }];
  const body = JSON.stringify({ error: { code: status, message, details } });
  return { status, headers: {}, body, message };
}

describe('a refusal of Google', () => {
  it.each([
    ['a 429 without a time to come back', reply(429, 'quota'), 'full', 'later'],
    ['a wrong key', reply(400, 'API key not valid.', 'API_KEY_INVALID'), 'denied', 'fail'],
    ['a bad request', reply(400, 'Unknown name "x"'), 'refused', 'fail'],
    [
      'a file of nobody',
      reply(403, 'No access to the File a or it may not exist.'),
      'gone',
      'fail',
    ],
    ['a batch that cannot be seen', reply(403, 'No right, or it may not exist.'), 'denied', 'fail'],
    ['no permission', reply(403, 'Method not allowed for you'), 'denied', 'fail'],
    ['an unknown model', reply(404, 'models/x is not found'), 'gone', 'fail'],
    ['what is not implemented', reply(501, 'never'), 'refused', 'fail'],
    ['an unavailable service', reply(503, 'later'), 'busy', 'later'],
  ])('%s', (_what, given, meaning, next) => {
    expect(judgeGoogle(given)).toMatchObject({ meaning, next });
    expect(judgeCreate(given)).toMatchObject(
      meaning === 'gone' && given.message.includes('File') ? { next: 'later' } : { meaning, next },
    );
  });
});

describe('a create right after its upload', () => {
  it.each([
    reply(400, 'File files/a is not in an ACTIVE state and usage is not allowed.'),
    reply(403, 'You do not have permission to access the File a or it may not exist.'),
    reply(404, 'File a was not found.'),
  ])('is tried again for a while: $message', (given) => {
    expect(judgeCreate(given)).toEqual({ meaning: 'gone', next: 'later', within: 60_000 });
  });

  it('leaves open what a 500 means, whatever it says', () => {
    expect(judgeCreate(reply(500, 'The file was not found'))).toMatchObject({ unclear: true });
  });
});
