import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, describe, expect, it } from 'vitest';
import fc from '../../../test/support/fast-check.ts';
import { type BatchingContext, batchify } from '../../core.ts';
import type { BodyToCome } from '../border.ts';
import { isRequest, openBody, postUrl, readHeaders } from './read-call.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

type HeadersForm = NonNullable<RequestInit['headers']>;

const url = 'https://api.openai.com/v1/chat/completions';

describe('the URL of a call', () => {
  it.each([
    ['text', url],
    ['a URL', new URL(url)],
    ['a Request', new Request(url)],
  ])('is read from %s', (_what, input) => {
    expect(postUrl(input, { method: 'POST' })).toBe(url);
  });

  it('is read from anything that fetch would turn into text', () => {
    const input = { href: url, toString: () => url } as URL;
    expect(postUrl(input, { method: 'POST' })).toBe(url);
  });
});

describe('the method of a call', () => {
  it.each<[string, string | Request, RequestInit | undefined, boolean]>([
    ['nothing', url, undefined, false],
    ['no method', url, {}, false],
    ['POST', url, { method: 'POST' }, true],
    ['post', url, { method: 'post' }, true],
    ['PUT', url, { method: 'PUT' }, false],
    ['the Request', new Request(url, { method: 'POST' }), undefined, true],
    ['the Request, with other options', new Request(url, { method: 'POST' }), {}, true],
    ['GET over the Request', new Request(url, { method: 'POST' }), { method: 'GET' }, false],
    ['POST over the Request', new Request(url), { method: 'POST' }, true],
  ])('is taken from %s', (_what, input, init, post) => {
    expect(postUrl(input, init)).toBe(post ? url : '');
  });

  it('tells a Request from everything else', () => {
    expect(isRequest(new Request(url))).toBe(true);
    for (const other of [url, new URL(url), {}, null, undefined]) {
      expect(isRequest(other)).toBe(false);
    }
  });
});

describe('the headers of a call', () => {
  const name = fc.constantFrom('x-a', 'X-A', 'x-b', 'Authorization', 'content-type');
  const value = fc.stringMatching(/^[ \t]{0,2}[!-~]{0,8}( [!-~]{1,4})?[ \t\r\n]{0,2}$/);

  function native(init: HeadersForm): Record<string, string> {
    return Object.fromEntries(new Headers(init));
  }

  it('are those that fetch would send, in every form they can have', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(name, value), { maxLength: 6 }), (pairs) => {
        const forms: HeadersForm[] = [pairs, new Headers(pairs), Object.fromEntries(pairs)];
        for (const headers of forms) {
          expect({ ...readHeaders(url, { headers }) }).toEqual(native(headers));
        }
      }),
    );
  });

  it('are taken from a Request, unless the options bring their own', () => {
    const request = new Request(url, { headers: { 'x-a': '1', 'x-b': '2' } });
    expect(readHeaders(request, undefined)).toEqual({ 'x-a': '1', 'x-b': '2' });
    expect(readHeaders(request, { method: 'POST' })).toEqual({ 'x-a': '1', 'x-b': '2' });
    expect(readHeaders(request, { headers: { 'X-A': '3' } })).toEqual({ 'x-a': '3' });
  });

  it('are empty where there are none', () => {
    expect(readHeaders(url, undefined)).toEqual({});
    expect(readHeaders(new URL(url), {})).toEqual({});
  });

  it('are joined where one comes twice', () => {
    const headers: [string, string][] = [
      ['anthropic-beta', 'a'],
      ['Anthropic-Beta', 'b'],
    ];
    expect(readHeaders(url, { headers })).toEqual({ 'anthropic-beta': 'a, b' });
  });
});

describe('the headers of calls that follow each other', () => {
  const headers = { authorization: 'Bearer sk-secret', 'x-a': '1' };

  function readTwice(): WeakRef<object> {
    const first = readHeaders(url, { headers });
    expect(readHeaders(url, { headers: { ...headers } })).toBe(first);
    expect(readHeaders(url, { headers: { ...headers, 'x-a': '2' } })).not.toBe(first);
    return new WeakRef(readHeaders(url, { headers }));
  }

  it('are one object if they are the same, which is not kept once no call has it', async () => {
    const shared = readTwice();
    await turn();
    collectGarbage();
    expect(shared.deref()).toBeUndefined();
  });
});

describe('the body of a call', () => {
  const text = '{"a":"\u00fc\ud83d\ude00"}';

  function readBody(input: string | Request, init: RequestInit | undefined) {
    const { body } = openBody(input, init);
    return typeof body === 'object' ? body.text : body;
  }

  const bytes = new TextEncoder().encode(text);

  it('is read at once from text', () => {
    expect(readBody(url, { body: text })).toBe(text);
    expect(readBody(url, { body: '' })).toBe('');
  });

  it.each([
    ['bytes', bytes],
    ['a buffer', bytes.buffer.slice(0, bytes.byteLength)],
    ['a part of a buffer', new Uint8Array([0, ...bytes, 0]).subarray(1, bytes.length + 1)],
    ['a view', new DataView(bytes.buffer, 0, bytes.byteLength)],
    ['a Buffer', Buffer.from(text)],
  ])('is read at once from %s', (_what, body) => {
    expect(readBody(url, { body: body as RequestInit['body'] & {} })).toBe(text);
  });

  it('is read from a copy of a Request, which can still be sent', async () => {
    const request = new Request(url, { method: 'POST', body: text });
    expect(await readBody(request, undefined)).toBe(text);
    expect(request.bodyUsed).toBe(false);
    expect(await request.text()).toBe(text);
  });

  it('is read from a copy of a stream, which can still be sent', async () => {
    const { body, init } = openBody(url, { body: new Blob([text]).stream() });
    expect(await (body as BodyToCome).text).toBe(text);
    expect(await new Response(init?.body).text()).toBe(text);
  });

  it('of the options wins over that of a Request', () => {
    const request = new Request(url, { method: 'POST', body: 'other' });
    expect(readBody(request, { body: text })).toBe(text);
  });

  it.each<[string, RequestInit['body']]>([
    ['nothing', undefined],
    ['null', null],
    ['a form', new FormData()],
    ['parameters', new URLSearchParams('a=1')],
    ['a blob of something else', new Blob(['{}'], { type: 'image/png' })],
    ['bytes that are no text', new Uint8Array([0xff, 0xfe])],
  ])('is no text when it is %s', async (_what, body) => {
    expect(await readBody(url, { body: body ?? null })).toBeUndefined();
  });

  it('is undefined where a Request has no body', async () => {
    expect(await readBody(new Request(url, { method: 'POST' }), undefined)).toBeUndefined();
  });
});

describe('a call that fetch would refuse', () => {
  let scope: BatchingContext | undefined;

  afterEach(() => scope?.close());

  it('is rejected where it cannot be read, as fetch does', async () => {
    scope = batchify({ store: ':memory:', window: '5ms' });
    const used = new Request(url, { method: 'POST', body: '{}' });
    await used.text();
    let refused: Promise<unknown> | undefined;
    expect(() => {
      refused = scope?.fetch(used).catch((error: unknown) => error);
    }).not.toThrow();
    expect(await refused).toBeInstanceOf(TypeError);
  });
});
