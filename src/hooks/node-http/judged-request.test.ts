import http, { type ClientRequest } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { useHookedServer } from '../../../test/support/servers/hooked-server.ts';
import { received } from '../../../test/support/servers/http-exchange.ts';
import type { RequestJudge } from '../border.ts';
import { judgeRequest } from './judged-request.ts';

const server = useHookedServer();
let seen: string[] = [];
afterEach(() => {
  seen = [];
});

function judge(verdict?: Error, isCertain = false): RequestJudge {
  return {
    isCertain,
    judge(headers, start) {
      seen.push(`${headers.host === undefined ? 'no host' : 'host'} ${start}`);
      return verdict;
    },
  };
}

function send(options: http.RequestOptions, from: RequestJudge): ClientRequest {
  const request = http.request(server.url, { method: 'POST', agent: false, ...options });
  judgeRequest(request, from);
  return request;
}

const isNative = ({ write, end }: ClientRequest) =>
  write === http.ClientRequest.prototype.write && end === http.ClientRequest.prototype.end;

describe('a request that is judged', () => {
  it('is shown with its end, or with its last byte, and is native from then on', async () => {
    const chunked = send({}, judge());
    chunked.write('one ');
    expect([seen, isNative(chunked)]).toEqual([[], false]);
    await received(chunked.end(Buffer.from('two')));
    const known = send({ headers: { 'content-length': 3 } }, judge());
    known.write(new Uint8Array([97, 98, 99]));
    expect([seen, isNative(known)]).toEqual([['host one two', 'host abc'], true]);
    await received(known.end());
    expect(seen).toHaveLength(2);
  });

  it('is shown as soon as there is enough of it, or at once where its URL is enough', async () => {
    const long = send({}, judge());
    long.write('x'.repeat(20_000));
    expect(seen[0]).toHaveLength('host '.length + 16_384);
    await received(long.end());
    const certain = send({}, judge(undefined, true));
    certain.write('a');
    expect(seen[1]).toBe('host a');
    await received(certain.end());
  });

  it('keeps what its functions return and call back', async () => {
    const request = send({}, judge());
    const called: string[] = [];
    const returned = [
      request.write('a', () => called.push('a')),
      request.write('b'.repeat(200_000), 'latin1', () => called.push('b')),
    ];
    const ended = request.end('c', () => called.push('end'));
    await received(request);
    expect([returned, ended === request, called]).toEqual([[true, false], true, ['a', 'b', 'end']]);
  });

  it('leaves in place who has wrapped its functions since, and is judged once', async () => {
    const request = send({}, judge());
    const ours = request.end;
    const theirs = ((...values: []) => Reflect.apply(ours, request, values)) as typeof ours;
    request.end = theirs;
    request.end('a');
    expect([request.end === theirs, seen.length]).toEqual([true, 1]);
    request.end();
    expect(seen).toHaveLength(1);
    await received(request);
  });

  it('fails with the error of its judge, once, and sends nothing', async () => {
    const refusal = new Error('not this one');
    for (const end of [true, false]) {
      const request = send({ headers: { 'content-length': 1 } }, judge(refusal));
      const errors: unknown[] = [];
      request.on('error', (error) => errors.push(error));
      const closed = new Promise((resolve) => request.once('close', resolve));
      if (end) request.end('a');
      else expect(request.write('a')).toBe(false);
      await closed;
      expect(errors).toEqual([refusal]);
    }
    expect(server.seen).toEqual([]);
  });
});
