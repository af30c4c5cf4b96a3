import { expect, it } from 'vitest';
import { writeResponse } from './raw-response.ts';

function written(status: number, headers: Record<string, string>, body: string): string {
  return writeResponse({ status, headers, body }).toString('utf8');
}

it('writes status, headers and a body of known length', () => {
  expect(written(429, { 'content-type': 'application/json', 'x-id': 'é' }, '"ü"')).toBe(
    Buffer.concat([
      Buffer.from('HTTP/1.1 429 Too Many Requests\r\ncontent-type: application/json\r\n'),
      Buffer.from('x-id: é\r\n', 'latin1'),
      Buffer.from('content-length: 4\r\nconnection: close\r\n\r\n"ü"'),
    ]).toString('utf8'),
  );
});

it('writes a status that has no name', () => {
  expect(written(499, {}, '')).toMatch(/^HTTP\/1\.1 499 \r\n/);
});

it.each([204, 205, 304])('writes no body where none may follow: %i', (status) => {
  expect(written(status, {}, '{"a":1}')).toMatch(/content-length: 0\r\n.*\r\n\r\n$/);
});

it('says itself how long the body is and how it is coded', () => {
  const headers = {
    'Content-Length': '999',
    'Transfer-Encoding': 'chunked',
    'content-encoding': 'gzip',
    Connection: 'keep-alive',
  };
  expect(written(200, headers, '{}')).toBe(
    'HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}',
  );
});

it('lets no header begin another one', () => {
  const headers = { 'x-good': 'a\r\nx-evil: b\0', 'x-bad\r\nx-evil': '1', '': 'nothing' };
  expect(written(200, headers, '')).toBe(
    'HTTP/1.1 200 OK\r\nx-good: a x-evil: b \r\ncontent-length: 0\r\nconnection: close\r\n\r\n',
  );
});
