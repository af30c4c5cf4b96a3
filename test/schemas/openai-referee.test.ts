import { describe, expect, it } from 'vitest';
import type { Recorded } from '../support/servers/recording-proxy.ts';
import { openaiFaults } from './openai-referee.ts';

/* A judge that lets mistakes pass is worse than none: each of these is one that a server or a client could make. */

type Json = Record<string, unknown>;

const create: Json = {
  input_file_id: 'file-1',
  endpoint: '/v1/chat/completions',
  completion_window: '24h',
  metadata: { batchling: 'token' },
};
const batch: Json = {
  id: 'batch_1',
  object: 'batch',
  endpoint: '/v1/chat/completions',
  errors: null,
  input_file_id: 'file-1',
  completion_window: '24h',
  status: 'completed',
  output_file_id: 'file-2',
  error_file_id: null,
  created_at: 1,
  request_counts: { total: 1, completed: 1, failed: 0 },
  metadata: { batchling: 'token' },
};
const line: Json = { custom_id: 'a', method: 'POST', url: '/v1/chat/completions', body: {} };
const completion: Json = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: 'hello' },
      logprobs: null,
      finish_reason: 'stop',
    },
  ],
};
const response = { status_code: 200, request_id: 'req_1', body: completion };
const result: Json = { id: 'batch_req_1', custom_id: 'a', response, error: null };

function exchange(method: string, path: string, request: unknown, reply: unknown): Recorded {
  const type = 'application/json';
  return {
    method,
    path: `/openai/v1${path}`,
    type: request === undefined ? undefined : type,
    body: request === undefined ? '' : JSON.stringify(request),
    reply: { status: 200, type, body: JSON.stringify(reply) },
  };
}

function upload(form: string, lines: string): Recorded {
  const file = `content-disposition: form-data; name="file"; filename="a.jsonl"\r\n\r\n${lines}\r\n`;
  const stored = { id: 'file-1', object: 'file', bytes: 1, created_at: 1, filename: 'a.jsonl' };
  return {
    ...exchange('POST', '/files', {}, { ...stored, purpose: 'batch', status: 'processed' }),
    type: 'multipart/form-data; boundary=x',
    body: `--x\r\n${form}--x\r\n${file}--x--\r\n`,
  };
}

function field(name: string, value: string): string {
  return `content-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
}

function results(text: unknown): readonly Recorded[] {
  const content = exchange('GET', '/files/file-2/content', undefined, text);
  const reply = { ...content.reply, type: 'application/octet-stream' } as Recorded['reply'] &
    object;
  return [exchange('GET', '/batches/batch_1', undefined, batch), { ...content, reply }];
}

const list = (query: string, page: Json) =>
  exchange('GET', `/batches${query}`, undefined, {
    object: 'list',
    data: [batch],
    first_id: 'batch_1',
    last_id: 'batch_1',
    has_more: false,
    ...page,
  });

describe('the judge of OpenAI’s traffic', () => {
  it.each([
    ['a create', [exchange('POST', '/batches', create, batch)]],
    ['a list', [list('?limit=100&after=batch_0', {})]],
    ['an upload', [upload(field('purpose', 'batch'), JSON.stringify(line))]],
    ['a result', results(result)],
  ])('lets %s pass as it should be', async (_what, exchanges) => {
    expect(await openaiFaults(exchanges)).toEqual([]);
  });

  const { input_file_id: _file, ...withoutFile } = create;
  const { created_at: _at, ...withoutTime } = batch;
  const { body: _body, ...withoutBody } = line;
  const { error: _error, ...withoutError } = result;
  it.each([
    [
      'a field of a create is unknown',
      exchange('POST', '/batches', { ...create, model: 'm' }, batch),
    ],
    ['a field of a create is missing', exchange('POST', '/batches', withoutFile, batch)],
    ['an endpoint is unknown', exchange('POST', '/batches', { ...create, endpoint: '/x' }, batch)],
    ['a cancel has a body', exchange('POST', '/batches/batch_1/cancel', {}, batch)],
    ['a parameter is unknown', list('?page_size=100', {})],
    ['a parameter is no number', list('?limit=many', {})],
    ['a field of a batch is missing', exchange('POST', '/batches', create, withoutTime)],
    ['a field is misspelt', exchange('POST', '/batches', create, { ...batch, compleded_at: 1 })],
    ['a status is unknown', exchange('POST', '/batches', create, { ...batch, status: 'done' })],
    ['a time is a text', exchange('POST', '/batches', create, { ...batch, created_at: '2026' })],
    ['a listed batch is wrong', list('', { data: [{ ...batch, object: 'job' }] })],
    ['a page has no `has_more`', list('', { has_more: undefined })],
    ['there is no such path', exchange('GET', '/batch/batch_1', undefined, batch)],
    ['a purpose is unknown', upload(field('purpose', 'batch-api'), JSON.stringify(line))],
    [
      'a field of a form is unknown',
      upload(`${field('purpose', 'batch')}--x\r\n${field('file_name', 'a')}`, JSON.stringify(line)),
    ],
    ['a line lacks its body', upload(field('purpose', 'batch'), JSON.stringify(withoutBody))],
    [
      'a line has a field too many',
      upload(field('purpose', 'batch'), JSON.stringify({ ...line, id: 1 })),
    ],
  ])('objects where %s', async (_what, wrong) => {
    expect(await openaiFaults([wrong])).not.toEqual([]);
  });

  it.each([
    ['a result says nothing of errors', withoutError],
    ['an answer lacks a field', { ...result, response: { ...response, body: {} } }],
    ['a refusal is no error', { ...result, response: { ...response, status_code: 400 } }],
    ['a status is a text', { ...result, response: { ...response, status_code: '200' } }],
  ])('objects where %s', async (_what, wrong) => {
    expect(await openaiFaults(results(wrong))).not.toEqual([]);
  });

  it('objects to a status that is not published', async () => {
    const wrong = exchange('POST', '/batches', create, batch);
    const reply = { ...wrong.reply, status: 201 } as Recorded['reply'] & object;
    expect(await openaiFaults([{ ...wrong, reply }])).toEqual([
      'POST /batches → 201: it has no status 201',
    ]);
  });
});
