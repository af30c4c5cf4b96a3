import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { AnswerResponse } from './response.ts';

const url = 'https://api.openai.com/v1/chat/completions';
const text = '{"text":"z\u00fcrich \u6771\u4eac \ud83d\ude00","n":12345678901234567890}';

function respond(body = text, status = 200, json?: unknown): Response {
  const answer = { status, headers: {}, body, ...(json !== undefined && { json }) };
  const headers = { 'content-type': 'application/json', 'x-request-id': 'req_1' };
  return new AnswerResponse(answer, headers, url);
}

/** Every way to read a body, and what it gives as text. */
const readers: readonly [string, (response: Response) => Promise<string>][] = [
  ['text', (response) => response.text()],
  ['json', async (response) => JSON.stringify(await response.json())],
  ['arrayBuffer', async (response) => Buffer.from(await response.arrayBuffer()).toString()],
  ['bytes', async (response) => Buffer.from(await response.bytes()).toString()],
  ['blob', async (response) => (await response.blob()).text()],
  ['body', (response) => readStream(response)],
];

async function readStream({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

describe('an answer', () => {
  it('is a Response with everything that clients look at', () => {
    const response = respond();
    expect(response).toBeInstanceOf(Response);
    expect(Object.prototype.toString.call(response)).toBe('[object Response]');
    expect(response).toMatchObject({
      status: 200,
      statusText: 'OK',
      ok: true,
      url,
      redirected: false,
      type: 'basic',
      bodyUsed: false,
    });
  });

  it.each([200, 201, 299])('is fine with status %i', (status) => {
    expect(respond('{}', status).ok).toBe(true);
  });

  it.each([400, 429, 499, 500, 529])('is not fine with status %i', (status) => {
    expect(respond('{}', status)).toMatchObject({ ok: false, status });
  });

  it('refuses a borrowed method of Response rather than give an empty text', async () => {
    const borrowed = async () => Response.prototype.text.call(respond());
    await expect(borrowed()).rejects.toBeInstanceOf(TypeError);
  });

  it('has headers of the usual kind', () => {
    const { headers } = respond();
    expect(headers).toBeInstanceOf(Headers);
    expect(headers.get('X-Request-Id')).toBe('req_1');
    expect([...headers.keys()]).toEqual(['content-type', 'x-request-id']);
  });
});

describe('reading an answer', () => {
  it.each(readers)('by %s gives what a native Response gives', async (_name, read) => {
    const response = respond();
    expect(await read(response)).toBe(await read(new Response(text)));
    expect(response.bodyUsed).toBe(true);
  });

  it.each(readers)(
    'by %s can be done once; after that nothing can be read',
    async (_name, read) => {
      const response = respond();
      await read(response);
      for (const [, again] of readers.filter(([name]) => name !== 'body')) {
        await expect(again(response)).rejects.toThrow(TypeError);
      }
      expect(() => response.clone()).toThrow(TypeError);
    },
  );

  it('gives the parsed body that is there already, to one reader only', async () => {
    const parsed = { text: 'parsed before' };
    const response = respond('{"text":"parsed before"}', 200, parsed);
    const clone = response.clone();
    expect(await response.json()).toBe(parsed);
    parsed.text = 'changed';
    expect(await clone.json()).toEqual({ text: 'parsed before' });
  });

  it('knows a body that is null', async () => {
    expect(await respond('null', 200).json()).toBeNull();
    expect(await respond('null', 200, null).json()).toBeNull();
  });

  it('rejects, and does not throw, when the body is no JSON', async () => {
    const response = respond('<html>', 502);
    const reading = response.json();
    await expect(reading).rejects.toThrow(SyntaxError);
    await expect(respond('', 500).json()).rejects.toThrow(SyntaxError);
  });

  it('gives a blob of the right type', async () => {
    expect((await respond().blob()).type).toBe('application/json');
  });

  it('can still be read after `body` was accessed', async () => {
    const response = respond();
    expect(response.body).toBeInstanceOf(ReadableStream);
    expect(response.body).toBe(response.body);
    expect(response.bodyUsed).toBe(false);
    expect(await response.text()).toBe(text);
    expect(response.bodyUsed).toBe(true);
  });

  it('is locked while its stream is read', async () => {
    const response = respond();
    const reader = response.body?.getReader();
    await expect(response.text()).rejects.toThrow(TypeError);
    expect(() => response.clone()).toThrow(TypeError);
    expect((await reader?.read())?.done).toBe(false);
    expect(response.bodyUsed).toBe(true);
  });

  it('allows access to `body` afterwards', async () => {
    const response = respond();
    await response.json();
    expect(() => response.body).not.toThrow();
    expect(response.bodyUsed).toBe(true);
  });

  it('can be printed before and afterwards', async () => {
    const response = respond();
    expect(inspect(response)).toContain('status: 200');
    expect(await response.text()).toBe(text);
    const read = respond();
    await read.text();
    expect(inspect(read)).toContain('status: 200');
    await expect(read.text()).rejects.toThrow(TypeError);
  });
});

describe('an answer whose status allows no body', () => {
  it.each([204, 205, 304])('is as empty as a native one: %i', async (status) => {
    for (const [name, read] of readers.filter(([name]) => name !== 'json' && name !== 'body')) {
      expect(await read(respond(text, status)), name).toBe('');
    }
    expect(respond(text, status).body).toBeNull();
    const clone = respond(text, status).clone();
    expect([clone.status, await clone.text()]).toEqual([status, '']);
  });
});

describe('a clone', () => {
  it('is read on its own, in either order', async () => {
    const first = respond(text, 404);
    const second = first.clone();
    expect(await second.text()).toBe(text);
    expect(first.bodyUsed).toBe(false);
    expect(await first.text()).toBe(text);
    expect(second).toBeInstanceOf(Response);
    expect(second).toMatchObject({ status: 404, ok: false, url });
    expect(second.headers.get('x-request-id')).toBe('req_1');
  });

  it('has headers of its own', () => {
    const response = respond();
    const clone = response.clone();
    response.headers.set('x-mine', '1');
    expect(clone.headers.get('x-mine')).toBeNull();
  });
});

it('can be the source of another Response', async () => {
  const response = respond(text, 404);
  const copy = new Response(response.body, response);
  expect([copy.status, copy.headers.get('x-request-id')]).toEqual([404, 'req_1']);
  expect(await copy.text()).toBe(text);
});
